/* For redis-server by LD_PRELOAD: its wall clock is off by as many seconds as the file that
 * CLOCK_STEP names says, from the moment on that it says so. What is monotonic stays. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t clock_step(void)
{
	static const char *text;
	if (!text) {
		const char *path = getenv("CLOCK_STEP");
		int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
		void *mapped = fd < 0 ? MAP_FAILED : mmap(NULL, 32, PROT_READ, MAP_SHARED, fd, 0);
		text = mapped == MAP_FAILED ? "0" : mapped;
		if (fd >= 0)
			close(fd);
	}
	return (time_t)strtol(text, NULL, 10);
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	static int (*real)(struct timeval *, void *);
	if (!real)
		real = (int (*)(struct timeval *, void *))dlsym(RTLD_NEXT, "gettimeofday");
	int r = real(now, zone);
	now->tv_sec += clock_step();
	return r;
}

int clock_gettime(clockid_t which, struct timespec *now)
{
	static int (*real)(clockid_t, struct timespec *);
	if (!real)
		real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	int r = real(which, now);
	if (which == CLOCK_REALTIME)
		now->tv_sec += clock_step();
	return r;
}

time_t time(time_t *ret_now)
{
	struct timeval now;
	gettimeofday(&now, NULL);
	if (ret_now)
		*ret_now = now.tv_sec;
	return now.tv_sec;
}
