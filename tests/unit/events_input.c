/* events: every kind of input, its end, and the end of memory. */
#include "harness/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "harness/oom.h"
#include "harness/rig.h"

static char long_text[3000];
static const struct shown long_output = {
	.kind = PERCH_SHOWN_OUTPUT,
	.text = { long_text, sizeof(long_text) - 1 },
};
static const struct shown output = { .kind = PERCH_SHOWN_OUTPUT, .text = { "text", 4 } };

START_TEST(the_end_of_input_is_told)
{
	struct rig rig;
	rig_begin(&rig);
	rig_ask(&rig, &rig_prompt);
	rig_said(&rig);
	rig_hang_up(&rig);
	rig_settle(&rig);
	ck_assert_str_eq(rig.heard, "(alone)");
	ck_assert(!rig.frontend->is_interactive);
	ck_assert_str_eq(rig_said(&rig), "{\"event\":\"withdraw\",\"ask\":3}\n");
	rig_end(&rig);

	rig_begin(&rig);
	rig_hang_up(&rig);
	rig_settle(&rig);
	ck_assert_str_eq(rig.heard, "(alone)");
	rig_end(&rig);

	/* A host that does not care gets a no. */
	rig_begin(&rig);
	rig.frontend->went_away = NULL;
	rig_ask(&rig, &rig_prompt);
	rig_hang_up(&rig);
	rig_settle(&rig);
	ck_assert_str_eq(rig.heard, "[3 cancelled:]");
	rig_end(&rig);
}
END_TEST

START_TEST(the_last_answer_needs_no_newline)
{
	struct rig rig;
	rig_begin(&rig);
	rig_ask(&rig, &rig_prompt);
	rig_answer(&rig, "{\"ask\":3,\"value\":\"last\"}");
	rig_hang_up(&rig);
	rig_settle(&rig);
	ck_assert_str_eq(rig.heard, "[3:last](alone)");
	rig_end(&rig);
}
END_TEST

/* printf … | perch: what was sent counts although nobody is there any more. */
START_TEST(answers_outlive_the_input)
{
	struct rig rig;
	rig_begin_with(&rig, "{\"ask\":4,\"value\":\"4\"}\n{\"ask\":3,\"value\":\"3\"}\n");
	rig_hang_up(&rig);
	ck_assert_int_eq(rig_connect(&rig, rig.in, rig.out), 0);
	ck_assert(rig.frontend->is_interactive);
	rig_settle(&rig);
	ck_assert_str_eq(rig.heard, "");
	rig_ask(&rig, &rig_prompt);
	ck_assert_str_eq(rig.heard, "[3:3]");
	ck_assert(rig.frontend->is_interactive);
	rig.next = &rig_confirm;
	rig_ask(&rig, &rig_count);
	ck_assert_str_eq(rig.heard, "[3:3][4:4](alone)");
	ck_assert(!rig.frontend->is_interactive);
	rig_end(&rig);
}
END_TEST

static void expect_nobody(int in)
{
	struct rig rig;
	rig_begin_with(&rig, NULL);
	ck_assert_int_eq(rig_connect(&rig, in, rig.out), 0);
	ck_assert(!rig.frontend->is_interactive);
	rig_settle(&rig);
	ck_assert_str_eq(rig.heard, "");
	ck_assert_str_eq(rig_said(&rig), "");
	rig_end(&rig);
}

START_TEST(inputs_without_anybody_are_known_at_once)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	expect_nobody(null);
	close(null);
	expect_nobody(1000); /* closed */
	expect_nobody(-1);
	int folder = open("/", O_RDONLY | O_CLOEXEC);
	expect_nobody(folder);
	close(folder);
	int ends[2];
	ck_assert_int_eq(pipe(ends), 0);
	close(ends[1]);
	expect_nobody(ends[0]);
	close(ends[0]);
}
END_TEST

/* perch < FILE, also one that is longer than what is looked at in the beginning. */
START_TEST(a_file_is_an_input)
{
	for (int blanks = 0; blanks <= 4 << 20; blanks += 4 << 20) {
		char path[] = "/tmp/perch-events-XXXXXX";
		int file = mkstemp(path);
		unlink(path);
		char *padding = malloc((size_t)blanks + 1);
		memset(padding, '\n', (size_t)blanks);
		ck_assert_int_eq(fd_write_all(file, padding, (size_t)blanks), 0);
		free(padding);
		ck_assert_int_eq(dprintf(file, "{\"ask\":3,\"value\":\"filed\"}"), 25);
		lseek(file, 0, SEEK_SET);
		struct rig rig;
		rig_begin_with(&rig, NULL);
		ck_assert_int_eq(rig_connect(&rig, file, rig.out), 0);
		ck_assert(rig.frontend->is_interactive);
		rig.frontend->table->ask(rig.frontend, &rig_prompt, NULL);
		while (rig.frontend->is_interactive)
			ck_assert_int_ge(loop_run(&rig.loop, -1), 0);
		ck_assert_str_eq(rig.heard, "[3:filed](alone)");
		rig_end(&rig);
		close(file);
	}
}
END_TEST

START_TEST(a_terminal_is_an_input)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		suite_skip("no pseudo terminals");
	int terminal = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_ge(terminal, 0);
	struct rig rig;
	rig_begin_with(&rig, NULL);
	ck_assert_int_eq(rig_connect(&rig, terminal, rig.out), 0);
	ck_assert(rig.frontend->is_interactive);
	rig_ask(&rig, &rig_prompt);
	ck_assert_int_eq(fd_write_all(master, "{\"ask\":3,\"value\":\"typed\"}\n", 26), 0);
	while (!rig.heard[0])
		ck_assert_int_ge(loop_run(&rig.loop, -1), 0);
	ck_assert_int_eq(fd_write_all(master, "\x04", 1), 0); /* Ctrl+D */
	while (rig.frontend->is_interactive)
		ck_assert_int_ge(loop_run(&rig.loop, -1), 0);
	ck_assert_str_eq(rig.heard, "[3:typed](alone)");
	rig_end(&rig);
	close(terminal);
	close(master);
}
END_TEST

/* Every line is one event and the last is the end. */
static bool is_whole(const char *text)
{
	size_t lines = 0;
	size_t events = 0;
	const char *last = NULL;
	for (const char *at = text; (at = strstr(at, "{\"event\":")); at++) {
		last = at;
		events++;
	}
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	return last && lines == events && strstr(last, "\"event\":\"end\"");
}

/* Events may be lost then, and answers; but never half a line, and it is told. */
static int converse_once(void *data)
{
	struct rig *rig = data;
	struct frontend *frontend = NULL;
	rig->heard[0] = '\0';
	fd_write_all(rig->write_end, "{\"ask\":5,\"value\":true}\n{\"ask\":7,\"value\":[1]}\n", 46);
	int r = rig_connect(rig, rig->in, rig->out);
	char chunk[8192];
	if (r == 0) {
		frontend = rig->frontend;
		frontend->table->show(frontend, &output);
		frontend->table->show(frontend, &long_output);
		frontend->table->ask(frontend, &rig_confirm, NULL);
		while (loop_run(&rig->loop, 0) > 0)
			;
		frontend->table->ask(frontend, &rig_pick_some, NULL);
		while (loop_run(&rig->loop, 0) > 0)
			;
		frontend->table->withdraw(frontend);
		frontend->table->done(frontend, &(perch_fledge_end){ .success = true });
		frontend->table->free(frontend);
		r = strcmp(rig->heard, "[5: yes][7: 1]") == 0 ? 0 : -ENOMEM;
	}
	ssize_t n = read(rig->read_end, chunk, sizeof(chunk) - 1);
	chunk[n > 0 ? n : 0] = '\0';
	if (frontend && !is_whole(chunk))
		return 1; /* wrong whatever failed */
	while (r < 0 && !frontend && read(rig->in, chunk, sizeof(chunk)) == (ssize_t)sizeof(chunk))
		;
	return r;
}

static bool ended_well = true;

static int converse_and_watch(void *data)
{
	int r = converse_once(data);
	ended_well &= r <= 0;
	return r;
}

START_TEST(memory_may_run_out)
{
	struct rig rig;
	rig_begin_with(&rig, NULL);
	fd_set_nonblocking(rig.in);
	memset(long_text, 'x', sizeof(long_text) - 1);
	ck_assert_int_eq(timers_promise(&rig.loop.timers), 0); /* the heap exists */
	ck_assert_uint_gt(oom_every(converse_and_watch, &rig), 3);
	ck_assert(ended_well);
	timers_release(&rig.loop.timers);
	rig.frontend = NULL;
	loop_close(&rig.loop);
}
END_TEST

SUITE_MAIN("events-input", the_end_of_input_is_told, the_last_answer_needs_no_newline,
	answers_outlive_the_input, inputs_without_anybody_are_known_at_once, a_file_is_an_input,
	a_terminal_is_an_input, memory_may_run_out)
