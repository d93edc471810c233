/* Whether a room may be used again is decided by bytes: all that a policy says counts, and of what
 * is protected which file it is. */
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/quarters.h"
#include "harness/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/reuse/reuse_pool.h"
#include "sandbox/sandbox.h"

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

static struct buf ask(const struct sandbox_policy *policy)
{
	struct buf asked = { 0 };
	ck_assert_int_eq(fingerprint_ask(policy, &asked), 0);
	return asked;
}

static struct buf make(const struct sandbox_policy *policy)
{
	struct sandbox *sandbox = calloc(1, sizeof(*sandbox));
	struct buf made = { 0 };
	ck_assert_ptr_nonnull(sandbox);
	sandbox->policy = *policy;
	ck_assert_int_eq(fingerprint_make(sandbox, &made), 0);
	free(sandbox);
	return made;
}

static bool is_same_again(struct buf (*print)(const struct sandbox_policy *policy),
	const struct sandbox_policy *policy, struct buf *before)
{
	struct buf now = print(policy);
	bool is_same = fingerprint_is_same(before, &now);
	buf_free(before);
	*before = now;
	return is_same;
}

START_TEST(everything_that_a_policy_says_counts)
{
	const struct sandbox_policy plain = { .protect = LIST("/p") };
	const struct sandbox_policy others[] = {
		{ .protect = LIST("/p"), .reads_everything = true },
		{ .protect = LIST("/p"), .net = SANDBOX_NET_FULL },
		{ .protect = LIST("/p"), .has_unix_sockets = true },
		{ .protect = LIST("/p"), .has_private_tmp = true },
		{ .protect = LIST("/p"), .leaves_terminal = true },
		{ .protect = LIST("/p"), .shares_group = true },
		{ .protect = LIST("/p"), .refuses_unsupported = true },
		{ .protect = LIST("/p"), .is_alone = true },
		{ .protect = LIST("/p"), .is_strict = true },
		{ .protect = LIST("/p"), .limits.memory = 1 },
		{ .protect = LIST("/p"), .limits.processes = 1 },
		{ .protect = LIST("/p"), .limits.files = 1 },
		{ .protect = LIST("/p"), .limits.size = 1 },
		{ .protect = LIST("/p"), .limits.cpu = 1 },
		{ .protect = LIST("/p"), .read = LIST("/x") },
		{ .protect = LIST("/p"), .write = LIST("/x") },
		{ .protect = LIST("/p"), .hide = LIST("/x") },
		{ .protect = LIST("/p"), .reveal = LIST("/x") },
		{ .protect = LIST("/p"), .named = LIST("/x") },
		{ .protect = LIST("/p"), .fixed = LIST("/x") },
		{ .protect = LIST("/p"), .granted = LIST("/x") },
		{ .protect = LIST("/x") },
		{ .protect = LIST("/p", "/x") },
		{ 0 },
	};
	struct buf prints[COUNT(others) + 1] = { ask(&plain) };
	for (size_t i = 0; i < COUNT(others); i++) {
		prints[i + 1] = ask(&others[i]);
		for (size_t before = 0; before <= i; before++)
			ck_assert_msg(!fingerprint_is_same(&prints[before], &prints[i + 1]), "%zu", i);
	}
	for (size_t i = 0; i < COUNT(prints); i++)
		buf_free(&prints[i]);
}
END_TEST

/* Made, replaced, changed, and gone; as it is asked for, and as it would be made. */
static void check_protected(struct buf (*print)(const struct sandbox_policy *policy))
{
	static const struct {
		const char *script;
		bool is_same;
	} steps[] = {
		{ ":", true },
		{ "echo >config", false },
		{ "echo more >>config", true },
		{ "echo >new; mv new config", false },
		{ "mv config old; ln -s old config", false },
		{ "rm config", false },
	};
	char path[4096];
	snprintf(path, sizeof(path), "%s/config", folder_new());
	const struct sandbox_policy policy = { .protect = LIST(path) };
	struct buf before = print(&policy);
	for (size_t i = 0; i < COUNT(steps); i++) {
		free(folder_run("%s", steps[i].script));
		ck_assert_msg(
			is_same_again(print, &policy, &before) == steps[i].is_same, "%s", steps[i].script);
	}
	buf_free(&before);
}

START_TEST(which_file_is_protected_counts)
{
	check_protected(ask);
	check_protected(make);
}
END_TEST

/* ---- with rooms -------------------------------------------------------------------- */

static perch_host *host;

/* What is in the protected file after a run that writes to it; *ret_is_new = in a room of its own.
 */
static char *write_protected(const struct sandbox_policy *policy, bool *ret_is_new)
{
	char script[4500];
	struct record record = { 0 };
	struct sandbox *sandbox;
	perch_err err = { 0 };
	ck_assert_msg(sandbox_open(host, policy, &sandbox, &err) == 0, "%s", err.text);
	snprintf(script, sizeof(script), "echo $$; (echo evil >>'%s') 2>&-; cat '%s' 2>&-",
		policy->protect[0], policy->protect[0]);
	perch_child_spec spec = proc_spec(LIST("sh", "-c", script), &record);
	spec.confine = sandbox_confine(sandbox);
	spec.cwd = "/";
	proc_start(host, &spec, &record);
	proc_until(host, &record.ended);
	*ret_is_new = atol(record_out(&record)) == 2;
	char *said = strdup(strchr(record_out(&record), '\n') + 1);
	record_free(&record);
	sandbox_close(sandbox);
	return said;
}

static void check_run(const struct sandbox_policy *policy, bool is_new, const char *expected)
{
	bool was_new;
	char *said = write_protected(policy, &was_new);
	ck_assert_str_eq(said, expected);
	ck_assert_int_eq(was_new, is_new);
	free(said);
}

QUARTERS_TEST(what_is_protected_is_so_in_a_room_that_is_used_again)
{
	struct arena arena = { 0 };
	setenv("PERCH_SANDBOX_NO_ROOM", "0", 1);
	quarters_prepare("mkdir home work; echo one >work/config");
	host = quarters_host();
	const struct policy_tool tool = { .home = quarters_path("home"),
		.directory = quarters_directory() };
	struct sandbox_policy policy;
	ck_assert_int_eq(policy_for_tool(&arena, &tool, &policy), 0);
	policy.write = LIST(quarters_path("work"));
	policy.protect = LIST(quarters_path("work/config"));
	check_run(&policy, true, "one\n");
	for (int i = 0; i < 3; i++)
		check_run(&policy, false, "one\n");
	quarters_prepare("echo two >work/new; mv work/new work/config");
	check_run(&policy, true, "two\n");
	check_run(&policy, false, "two\n");
	quarters_prepare("rm work/config");
	policy.protect = LIST(quarters_path("work/config"), quarters_path("work/other"));
	quarters_prepare("echo three >work/config");
	check_run(&policy, true, "three\n");
	check_run(&policy, false, "three\n");
	perch_host_free(host);
	arena_free(&arena);
}

static int ask_once(void *data)
{
	struct buf asked = { 0 };
	int r = fingerprint_ask(data, &asked);
	buf_free(&asked);
	return r;
}

START_TEST(memory_that_runs_out_is_told)
{
	struct sandbox_policy policy = { .protect = LIST("/p") };
	ck_assert_uint_gt(oom_every(ask_once, &policy), 0);
}
END_TEST

SUITE_MAIN("sandbox-fingerprint", everything_that_a_policy_says_counts,
	which_file_is_protected_counts, what_is_protected_is_so_in_a_room_that_is_used_again,
	memory_that_runs_out_is_told)
