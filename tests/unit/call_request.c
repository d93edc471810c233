/* call_request: what a command of a plugin may ask for, and that nothing else comes through. */
#include "harness/oom.h"
#include "harness/suite.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "fledge/call_request.h"

/* The bytes of a literal: a NUL ends the last word, too. */
#define PACKET(text)       \
	{                      \
		text, sizeof(text) \
	}

START_TEST(runs_and_the_list_are_taken)
{
	static const struct {
		struct str packet;
		size_t count; /* of arguments */
	} cases[] = {
		{ PACKET("/p\0run\0sql"), 2 },
		{ PACKET("/p\0run\0sql\0--sandbox=off\0"), 4 },
		{ PACKET("/p\0--json\0run\0sql"), 3 },
		{ PACKET("/p\0--json\0--answer\0yes\0--answer\0--json\0run\0sql"), 7 },
		{ PACKET("/p\0--answer\0run\0run\0sql"), 4 },
		{ PACKET("/p\0plugins\0list\0--json"), 3 },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct call_request request;
		perch_err err = { 0 };
		int r = call_request_read(cases[i].packet.data, cases[i].packet.len, &request, &err);
		ck_assert_msg(r == 0, "case %zu: %s", i, err.text);
		ck_assert_str_eq(request.directory, "/p");
		ck_assert_str_eq(request.argv[0], "");
		size_t count = 0;
		while (request.argv[count + 1])
			count++;
		ck_assert_uint_eq(count, cases[i].count);
		call_request_free(&request);
		ck_assert_ptr_null(request.argv);
	}
}
END_TEST

START_TEST(everything_else_is_refused)
{
	static const struct str cases[] = {
		{ "", 0 },
		{ "/p\0run\0sql", 10 }, /* the last word has no end */
		PACKET(""),
		PACKET("/p"),
		PACKET("p\0run\0sql"),
		PACKET("\0run\0sql"),
		PACKET("/p\0run"),
		PACKET("/p\0run\0--sandbox=off\0sql"),
		PACKET("/p\0--sandbox=off\0run\0sql"),
		PACKET("/p\0--json\0--json\0run\0sql"),
		PACKET("/p\0--json"),
		PACKET("/p\0--answer"),
		PACKET("/p\0--answer\0yes"),
		PACKET("/p\0--answer\0run\0sql"),
		PACKET("/p\0plugins\0list"),
		PACKET("/p\0plugins\0list\0--json\0x"),
		PACKET("/p\0plugins\0install\0x"),
		PACKET("/p\0Run\0sql"),
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct call_request request;
		perch_err err = { 0 };
		int r = call_request_read(cases[i].data, cases[i].len, &request, &err);
		ck_assert_msg(r == -EINVAL && strstr(err.text, "nothing else"), "case %zu: %d", i, r);
	}
}
END_TEST

START_TEST(a_call_has_so_many_words_and_no_more)
{
	static char packet[sizeof("/\0run") + 2 * (CALL_REQUEST_WORDS_MAX - 1)] = "/\0run";
	struct call_request request;
	perch_err err = { 0 };
	const size_t begin = sizeof("/\0run");
	const size_t len = begin + 2 * (CALL_REQUEST_WORDS_MAX - 2);
	for (size_t i = begin; i < sizeof(packet); i += 2)
		packet[i] = 'x';
	ck_assert_int_eq(call_request_read(packet, len, &request, &err), 0);
	call_request_free(&request);
	ck_assert_int_eq(call_request_read(packet, len + 2, &request, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.text, "more than 4096 words"));
}
END_TEST

static int read_one(void *data)
{
	static const struct str packet = PACKET("/p\0--answer\0yes\0run\0sql\0x");
	(void)data;
	struct call_request request;
	perch_err err = { 0 };
	int r = call_request_read(packet.data, packet.len, &request, &err);
	if (r < 0) {
		ck_assert_int_eq(r, -ENOMEM);
		ck_assert(err.text[0]);
		return r;
	}
	call_request_free(&request);
	return 0;
}

START_TEST(without_memory)
{
	ck_assert_uint_eq(oom_every(read_one, NULL), 1);
}
END_TEST

SUITE_MAIN("call-request", runs_and_the_list_are_taken, everything_else_is_refused,
	a_call_has_so_many_words_and_no_more, without_memory)
