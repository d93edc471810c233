/* What is said on stderr while a loop runs. */
#include "cli/aside.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/stamp.h"

static ssize_t say(void *data, const char *bytes, size_t len)
{
	struct aside *aside = data;
	struct buf said = { 0 };
	buf_append(&said, bytes, len);
	outlet_take(aside->outlet, &said);
	buf_free(&said);
	return (ssize_t)len;
}

static bool is_one_file(int a, int b)
{
	struct stat of_a;
	struct stat of_b;
	return fstat(a, &of_a) == 0 && fstat(b, &of_b) == 0 && stamp_is_same_file(&of_a, &of_b);
}

int aside_open(struct aside *aside, struct loop *loop, struct outlet *out)
{
	static const cookie_io_functions_t functions = { .write = say };
	*aside = (struct aside){ .before = stderr };
	if (is_one_file(STDOUT_FILENO, STDERR_FILENO))
		aside->outlet = out;
	else if (outlet_open(&aside->own, loop, STDERR_FILENO, NULL) == 0)
		aside->outlet = &aside->own;
	else
		return -ENOMEM;
	aside->stream = fopencookie(aside, "w", functions);
	if (!aside->stream) {
		aside_close(aside);
		return -ENOMEM;
	}
	setvbuf(aside->stream, NULL, _IONBF, 0);
	stderr = aside->stream;
	return 0;
}

/* That of stdout is somebody else's to hurry and to wait for. */
static bool has_own(const struct aside *aside)
{
	return aside->outlet == &aside->own;
}

void aside_hurry(struct aside *aside, uint64_t patience_ns)
{
	if (has_own(aside))
		outlet_hurry(&aside->own, patience_ns);
}

size_t aside_waiting(const struct aside *aside)
{
	return has_own(aside) ? outlet_waiting(&aside->own) : 0;
}

bool aside_is_full(const struct aside *aside)
{
	return has_own(aside) && aside->own.is_full;
}

void aside_close(struct aside *aside)
{
	if (aside->stream) {
		stderr = aside->before;
		fclose(aside->stream);
	}
	if (has_own(aside))
		outlet_close(&aside->own);
	*aside = (struct aside){ 0 };
}
