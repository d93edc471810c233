/* The other side of a pipe, as a script. Files, because they take any amount
 * without anybody reading. */
#include "harness/script.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int memory_file(void)
{
	int fd = memfd_create("script", MFD_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	return fd;
}

struct script script_begin(const char *text)
{
	struct script script = { .in = memory_file(), .out = memory_file() };
	size_t len = strlen(text);
	ck_assert_int_eq(write(script.in, text, len), (ssize_t)len);
	ck_assert_int_eq(lseek(script.in, 0, SEEK_SET), 0);
	return script;
}

char *script_end(struct script *script)
{
	off_t len = lseek(script->out, 0, SEEK_END);
	char *text = calloc(1, (size_t)len + 1);
	ck_assert_ptr_nonnull(text);
	ck_assert_int_eq(pread(script->out, text, (size_t)len, 0), len);
	close(script->in);
	close(script->out);
	return text;
}
