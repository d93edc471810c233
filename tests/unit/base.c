/* base: errors, buffers, text, memory, UTF-8, descriptors, paths. */
#include "harness/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"

START_TEST(buffer_grows_and_keeps_its_content)
{
	struct buf buf = { 0 };
	for (int i = 0; i < 10000; i++)
		ck_assert_int_eq(buf_printf(&buf, "%d,", i), 0);
	ck_assert_int_eq(buf_terminate(&buf), 0);
	ck_assert_int_eq(strncmp(buf.data, "0,1,2,3,", 8), 0);
	ck_assert_str_eq(buf.data + buf.len - 5, "9999,");
	buf_free(&buf);
}
END_TEST

SUITE_MAIN("base", buffer_grows_and_keeps_its_content)
