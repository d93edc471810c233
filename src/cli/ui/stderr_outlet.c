/* stderr while a loop runs. */
#include "cli/ui/stderr_outlet.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/stamp.h"

static ssize_t stderr_outlet_say(void *data, const char *bytes, size_t len)
{
	struct stderr_outlet *stderr_outlet = data;
	struct buf said = { 0 };
	buf_append(&said, bytes, len);
	outlet_take(stderr_outlet->outlet, &said);
	buf_free(&said);
	return (ssize_t)len;
}

static bool stderr_outlet_is_one_file(int a, int b)
{
	struct stat of_a;
	struct stat of_b;
	return fstat(a, &of_a) == 0 && fstat(b, &of_b) == 0 && stamp_is_same_file(&of_a, &of_b);
}

/* musl's stderr stays what it is: what is said goes out at once, and may wait for its reader. */
static void stderr_outlet_put(FILE *stream)
{
#ifdef __GLIBC__
	stderr = stream;
#else
	(void)stream;
#endif
}

int stderr_outlet_open(struct stderr_outlet *stderr_outlet, struct loop *loop, struct outlet *out)
{
	static const cookie_io_functions_t functions = { .write = stderr_outlet_say };
	*stderr_outlet = (struct stderr_outlet){ .before = stderr };
	if (stderr_outlet_is_one_file(STDOUT_FILENO, STDERR_FILENO))
		stderr_outlet->outlet = out;
	else if (outlet_open(&stderr_outlet->own, loop, STDERR_FILENO, NULL) == 0)
		stderr_outlet->outlet = &stderr_outlet->own;
	else
		return -ENOMEM;
	stderr_outlet->stream = fopencookie(stderr_outlet, "w", functions);
	if (!stderr_outlet->stream) {
		stderr_outlet_close(stderr_outlet);
		return -ENOMEM;
	}
	setvbuf(stderr_outlet->stream, NULL, _IONBF, 0);
	stderr_outlet_put(stderr_outlet->stream);
	return 0;
}

/* The outlet of stdout is hurried and waited for by its owner. */
static bool stderr_outlet_has_own(const struct stderr_outlet *stderr_outlet)
{
	return stderr_outlet->outlet == &stderr_outlet->own;
}

void stderr_outlet_hurry(struct stderr_outlet *stderr_outlet, uint64_t patience_ns)
{
	if (stderr_outlet_has_own(stderr_outlet))
		outlet_hurry(&stderr_outlet->own, patience_ns);
}

size_t stderr_outlet_waiting(const struct stderr_outlet *stderr_outlet)
{
	return stderr_outlet_has_own(stderr_outlet) ? outlet_waiting(&stderr_outlet->own) : 0;
}

bool stderr_outlet_is_full(const struct stderr_outlet *stderr_outlet)
{
	return stderr_outlet_has_own(stderr_outlet) && stderr_outlet->own.is_full;
}

void stderr_outlet_close(struct stderr_outlet *stderr_outlet)
{
	if (stderr_outlet->stream) {
		stderr_outlet_put(stderr_outlet->before);
		fclose(stderr_outlet->stream);
	}
	if (stderr_outlet_has_own(stderr_outlet))
		outlet_close(&stderr_outlet->own);
	*stderr_outlet = (struct stderr_outlet){ 0 };
}
