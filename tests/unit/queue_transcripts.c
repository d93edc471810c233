/* Conversations that are kept: a turn that may wait for others is written with the next order, at
 * the end, or when its time is up, and no question is answered without it. */
#include "harness/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "harness/folder.h"
#include "harness/proc.h"
#include "queue/transcripts.h"

static struct transcripts *open_them(perch_host *host)
{
	struct transcripts *transcripts = NULL;
	perch_err err = { 0 };
	int r = transcripts_open(host, folder_path("transcripts.db"), &transcripts, &err);
	ck_assert_msg(r == 0, "%s", err.text);
	return transcripts;
}

static void say(struct transcripts *transcripts, const char *message, uint64_t patience_ns)
{
	const struct transcripts_turn turn = {
		.agent = STR("bot"),
		.owner = STR("me"),
		.session = STR("talk"),
		.job = STR(""),
		.message = str_from(message),
		.reply = STR("yes"),
		.cwd = STR("/"),
		.time_ms = 1,
		.patience_ns = patience_ns,
	};
	ck_assert_int_eq(transcripts_add(transcripts, &turn), 0);
}

struct heard {
	bool is_answered;
	char text[1024];
};

static void take_answer(void *data, int error, const struct buf *found)
{
	struct heard *heard = data;
	ck_assert_int_eq(error, 0);
	heard->is_answered = true;
	snprintf(heard->text, sizeof(heard->text), "%.*s", (int)found->len, found->data);
}

/* What was said, in the order in which it was. */
static struct heard ask(perch_host *host, struct transcripts *transcripts)
{
	struct heard heard = { 0 };
	const struct transcripts_ask question = {
		.question = TRANSCRIPTS_SAID,
		.owner = STR("me"),
		.agents = STR(",bot,"),
		.text = STR("talk"),
		.done = take_answer,
		.data = &heard,
	};
	ck_assert_int_eq(transcripts_ask(transcripts, &question), 0);
	proc_until(host, &heard.is_answered);
	return heard;
}

#define HOUR (3600 * NSEC_PER_SEC)

START_TEST(a_patient_turn_waits_for_others)
{
	folder_new();
	perch_host *host = proc_host();
	struct transcripts *writer = open_them(host), *other = open_them(host);
	say(writer, "first", HOUR);
	ck_assert_ptr_null(strstr(ask(host, other).text, "first"));
	say(writer, "second", 0);
	struct heard heard = ask(host, writer);
	const char *first = strstr(heard.text, "first"), *second = strstr(heard.text, "second");
	ck_assert_ptr_nonnull(first);
	ck_assert_ptr_nonnull(second);
	ck_assert(first < second);
	transcripts_free(writer);
	transcripts_free(other);
	perch_host_free(host);
}
END_TEST

START_TEST(no_question_is_answered_without_it)
{
	folder_new();
	perch_host *host = proc_host();
	struct transcripts *writer = open_them(host);
	say(writer, "first", HOUR);
	ck_assert_ptr_nonnull(strstr(ask(host, writer).text, "first"));
	say(writer, "last", HOUR); /* the end waits for nobody */
	transcripts_free(writer);
	writer = open_them(host);
	ck_assert_ptr_nonnull(strstr(ask(host, writer).text, "last"));
	transcripts_free(writer);
	perch_host_free(host);
}
END_TEST

/* Once its time is up, another one finds it. */
START_TEST(patience_ends)
{
	folder_new();
	perch_host *host = proc_host();
	struct transcripts *writer = open_them(host), *other = open_them(host);
	say(writer, "patient", HOUR);
	say(writer, "first", NSEC_PER_MSEC);
	while (!strstr(ask(host, other).text, "first"))
		continue;
	ck_assert_ptr_nonnull(strstr(ask(host, other).text, "patient"));
	transcripts_free(writer);
	transcripts_free(other);
	perch_host_free(host);
}
END_TEST

SUITE_MAIN("queue-transcripts", a_patient_turn_waits_for_others, no_question_is_answered_without_it,
	patience_ends)
