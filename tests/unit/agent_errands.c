/* What an agent of ACP has done for it, files, terminals, questions, in turns with real processes:
 * whose terminal it is, how many errands there may be at a time, and each allocation that fails on
 * the way. */
#include "harness/suite.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "agent/errand_parts.h"
#include "agent/profile.h"
#include "agent/resident.h"
#include "harness/folder.h"
#include "harness/oom.h"
#include "harness/proc.h"
#include "proc/host.h"
#include "sandbox/reuse/dir_cache.h"

/* ---- the agent ----------------------------------------------------------------- */

/* It does what its prompt says; a request of its own that is refused fails the prompt. What comes
 * before an answer has its turn later: a next turn may begin meanwhile. */
#define AGENT                                                                                   \
	"say() { printf '{\"jsonrpc\":\"2.0\",%s}\\n' \"$1\"; }\n"                                  \
	"tell() { say \"\\\"method\\\":\\\"session/update\\\",\\\"params\\\":{\\\"sessionId\\\":"   \
	"\\\"$session\\\",\\\"update\\\":{\\\"sessionUpdate\\\":\\\"agent_message_chunk\\\","       \
	"\\\"content\\\":{\\\"type\\\":\\\"text\\\",\\\"text\\\":\\\"$1\\\"}}}\"; }\n"              \
	"request() { say \"\\\"id\\\":\\\"$1\\\",\\\"method\\\":\\\"$2\\\",\\\"params\\\":{"        \
	"\\\"sessionId\\\":\\\"$session\\\"$3}\"; }\n"                                              \
	"later=; end='\n'\n"                                                                        \
	"next() { case $later in '') read -r line;;\n"                                              \
	"  *) line=${later%%\"$end\"*}; later=${later#*\"$end\"};; esac; }\n"                       \
	"ask() { request q \"$@\"; while read -r answer || exit 0; do\n"                            \
	"  case $answer in *'\"id\":\"q\"'*) break;; *) later=$later$answer$end;; esac; done\n"     \
	"  case $answer in *'\"error\":'*) return 1;; esac; }\n"                                    \
	"has() { case $answer in *\"$1\"*) ;; *) tell \"wrong: no $2\"; return 1;; esac; }\n"       \
	"end() { say \"\\\"id\\\":$1,\\\"result\\\":{\\\"stopReason\\\":\\\"end_turn\\\"}\"; }\n"   \
	"files() { path=',\"path\":\"'$PWD'/note\"'\n"                                              \
	"  ask fs/write_text_file \"$path,\\\"content\\\":\\\"one two\\\"\" || return\n"            \
	"  ask fs/read_text_file \"$path\" && has 'one two' text; }\n"                              \
	"create() { ask terminal/create ',\"command\":\"sh\",\"args\":[\"-c\",\"echo $A $1 $PWD\"," \
	"\"sh\",\"last\"],\"env\":[{\"name\":\"A\",\"value\":\"first\"}],\"cwd\":\"'$PWD'/sub\"' "  \
	"|| return\n"                                                                               \
	"  id=${answer##*terminalId\\\":\\\"}; id=,\\\"terminalId\\\":\\\"${id%%\\\"*}\\\"; }\n"    \
	"terminal() { create || return; ask terminal/wait_for_exit \"$id\" || return\n"             \
	"  has '\"exitCode\":0' exit; ask terminal/output \"$id\" || return\n"                      \
	"  case $answer in *'\"truncated\":true'*) return 1;; esac\n"                               \
	"  has \"first last $PWD/sub\" output; ask terminal/release \"$id\"; }\n"                   \
	"questions() { ask session/request_permission ',\"toolCall\":{\"toolCallId\":\"c\","        \
	"\"title\":\"Change\",\"kind\":\"edit\"},\"options\":[{\"optionId\":\"yes-1\",\"name\":"    \
	"\"Yes\",\"kind\":\"allow_once\"},{\"optionId\":\"no-1\",\"name\":\"No\",\"kind\":"         \
	"\"reject_once\"}]' || return\n"                                                            \
	"  case $answer in *'\"cancelled\"'*) return 1;; esac; has yes-1 option\n"                  \
	"  ask elicitation/create ',\"mode\":\"form\",\"message\":\"Where?\",\"requestedSchema\":{" \
	"\"type\":\"object\",\"required\":[\"place\"],\"properties\":{\"place\":{\"type\":"         \
	"\"string\"}}}' || return\n"                                                                \
	"  case $answer in *'\"cancel\"'*) return 1;; esac; has here place; }\n"                    \
	"large() { request q fs/read_text_file ',\"path\":\"'$PWD'/large\"'\n"                      \
	"  answer=$(head -n 1 | { head -c 60; cat >/dev/null; }); has '\"id\":\"q\"' answer\n"      \
	"  case $answer in *'\"error\":'*) return 1;; esac; }\n"                                    \
	"hold() { create && held=$id owner=$session prompt=$number && tell held; }\n"               \
	"steal() { for what in output wait_for_exit kill release; do\n"                             \
	"    if ask terminal/$what \"$held\"; then tell \"wrong: $what\"; fi\n"                     \
	"    has 'there is no such terminal' refusal; done\n"                                       \
	"  thief=$session session=$owner; ask terminal/release \"$held\"; status=$?\n"              \
	"  end $prompt; session=$thief; return $status; }\n"                                        \
	"hidden() { ask fs/read_text_file ',\"path\":\"'$HOME'/.ssh/id\"'; tell refused; }\n"       \
	"denied() { ask terminal/create ',\"command\":\"cat '$HOME'/.ssh/id\"' || return\n"         \
	"  id=${answer##*terminalId\\\":\\\"}; id=,\\\"terminalId\\\":\\\"${id%%\\\"*}\\\"\n"       \
	"  ask terminal/wait_for_exit \"$id\"; tell refused; }\n"                                   \
	"linger() { ask terminal/create ',\"command\":\"sleep 1000\"' || return\n"                  \
	"  id=${answer##*terminalId\\\":\\\"}; id=,\\\"terminalId\\\":\\\"${id%%\\\"*}\\\"\n"       \
	"  request w terminal/wait_for_exit \"$id\" && tell held; }\n"                              \
	"crowd() { i=0; while [ $i -le $MOST ]; do\n"                                               \
	"    request r$i fs/read_text_file ',\"path\":\"'$PWD'/pipe\"'; i=$((i+1)); done\n"         \
	"  read -r answer; has \"\\\"id\\\":\\\"r$MOST\\\"\" id; has 'at most 32' number\n"         \
	"  ask terminal/create ',\"command\":\"true\"' && tell 'wrong: one more'\n"                 \
	"  has 'at most 32' number; }\n"                                                            \
	"sessions=0\n"                                                                              \
	"while next; do\n"                                                                          \
	"  number=${line#*\\\"id\\\":}; number=${number%%,*}\n"                                     \
	"  case $line in\n"                                                                         \
	"  *'\"method\":\"initialize\"'*) say \"\\\"id\\\":$number,\\\"result\\\":{"                \
	"\\\"protocolVersion\\\":1}\";;\n"                                                          \
	"  *'\"method\":\"session/new\"'*) sessions=$((sessions+1))\n"                              \
	"    say \"\\\"id\\\":$number,\\\"result\\\":{\\\"sessionId\\\":\\\"s$sessions\\\"}\";;\n"  \
	"  *'\"method\":\"session/prompt\"'*)\n"                                                    \
	"    session=${line#*\\\"sessionId\\\":\\\"}; session=${session%%\\\"*}\n"                  \
	"    what=${line#*\\\"text\\\",\\\"text\\\":\\\"}; what=${what%%\\\"*}; mine=$number\n"     \
	"    if $what; then [ $what = hold ] || [ $what = linger ] || end $mine\n"                  \
	"    else say "                                                                             \
	"\"\\\"id\\\":$mine,\\\"error\\\":{\\\"code\\\":1,\\\"message\\\":\\\"no\\\"}\"\n"          \
	"    fi;;\n"                                                                                \
	"  esac\n"                                                                                  \
	"done\n"

static struct world {
	perch_host *host;
	struct arena arena;
	struct agent_profile profile;
} world;

static void world_open(void)
{
	static const char profile[] = "command: sh\nargs: ['{{PROFILE_DIR}}/agent']\nprotocol: acp\n"
								  "timeout_secs: 60\nkill_grace_secs: 0.2\nenv:\n  MOST: '32'\n";
	perch_err err = { 0 };
	ck_assert_int_eq(ERRANDS_MAX, 32);
	setenv("HOME", folder_new(), 1);
	setenv("XDG_CONFIG_HOME", folder_path("config"), 1);
	setenv("XDG_STATE_HOME", folder_path("state"), 1);
	setenv("TMPDIR", folder_path("tmp"), 1);
	free(folder_run("mkdir -p -m 700 tmp work/sub"));
	free(folder_run("head -c 150000 /dev/zero | tr '\\0' x >work/large"));
	free(folder_run("mkdir .ssh && echo key >.ssh/id"));
	folder_write("agent", AGENT);
	folder_write("bot.yaml", profile);
	world = (struct world){ .host = proc_host() };
	int r = agent_profile_read(folder_path("bot.yaml"), &world.arena, &world.profile, &err);
	ck_assert_msg(r == 0, "%s", err.text);
}

static void world_close(void)
{
	perch_host_free(world.host);
	arena_free(&world.arena);
	ck_assert_uint_eq(proc_children(), 0);
}

/* ---- turns --------------------------------------------------------------------- */

struct told {
	struct agent_turn *turn;
	bool is_held, has_ended, has_succeeded;
	bool was_late;
	bool leaves;     /* its user goes away at the first warning */
	char wrong[256]; /* what the agent would not have, were all well */
	char why[256];   /* its turn has failed */
};

static void told_partial(void *data, struct agent_turn *turn, struct str text, struct str raw)
{
	(void)turn;
	(void)raw;
	struct told *told = data;
	told->is_held = told->is_held || str_is(text, "held");
	if (str_has_prefix(text, STR("wrong")))
		snprintf(told->wrong, sizeof(told->wrong), "%.*s", (int)text.len, text.data);
}

static void told_warning(void *data, struct agent_turn *turn, struct str text)
{
	(void)text;
	struct told *told = data;
	if (!told->leaves)
		return;
	told->turn = NULL;
	agent_turn_free(turn);
}

static void told_error(void *data, struct agent_turn *turn, const char *code, struct str text)
{
	(void)turn;
	struct told *told = data;
	snprintf(told->why, sizeof(told->why), "%s: %.*s", code, (int)text.len, text.data);
}

static void told_permission(
	void *data, struct agent_turn *turn, const struct agent_permission *permission)
{
	(void)data;
	agent_turn_choose(turn, permission->request_id, true, STR("yes-1"));
}

static void told_question(
	void *data, struct agent_turn *turn, struct str request_id, const perch_question *question)
{
	(void)data;
	(void)question;
	perch_answer answer = PERCH_ANSWER_INIT;
	answer.text = "here";
	if (agent_turn_answer(turn, request_id, &answer, NULL) < 0)
		agent_turn_cancel(turn, SIGTERM);
}

static void told_end(void *data, struct agent_turn *turn, const perch_agent_end *end)
{
	(void)turn;
	struct told *told = data;
	told->has_ended = true;
	told->has_succeeded = end->success;
	told->was_late = end->timed_out;
}

static const struct agent_turn_events told_events = {
	.partial = told_partial,
	.warning = told_warning,
	.error = told_error,
	.permission = told_permission,
	.question = told_question,
	.end = told_end,
};

/* What a client says of the place: the agent is told of one server, and of nothing else. */
#define PLACE                                                                         \
	"{\"mcp_servers\":[{\"name\":\"m\",\"command\":\"/m\"},{\"name\":\"w\",\"type\":" \
	"\"http\",\"url\":\"u\"},7],\"additional_directories\":[\"/d\",7]}"

static int told_start(struct told *told, struct residents *residents, const char *message)
{
	const struct agent_turn_options options = {
		.profile = &world.profile,
		.residents = residents,
		.message = str_from(message),
		.session_id = "",
		.cwd = folder_path("work"),
		.context = PLACE,
		.events = &told_events,
		.data = told,
	};
	*told = (struct told){ 0 };
	return agent_turn_start(world.host, &options, &told->turn, NULL);
}

/* A turn that nobody ends in time has lost something. */
static int told_finish(struct told *told, const char *message)
{
	while (!told->has_ended)
		ck_assert_int_ge(perch_host_wait(world.host, -1), 0);
	agent_turn_free(told->turn);
	ck_assert_msg(!told->was_late, "%s hangs", message);
	ck_assert_msg(!told->wrong[0], "%s: %s", message, told->wrong);
	ck_assert_msg(told->has_succeeded || told->why[0], "%s fails without a word", message);
	return told->has_succeeded ? 0 : -ENOMEM;
}

static int take_turn(struct residents *residents, const char *message)
{
	struct told told;
	int r = told_start(&told, residents, message);
	return r < 0 ? r : told_finish(&told, message);
}

/* ---- what holds ---------------------------------------------------------------- */

START_TEST(a_terminal_is_of_one_session)
{
	struct residents *residents = NULL;
	struct told first, second;
	world_open();
	ck_assert_int_eq(residents_new(world.host, &residents), 0);
	ck_assert_int_eq(told_start(&first, residents, "hold"), 0);
	proc_until(world.host, &first.is_held);
	ck_assert_int_eq(told_start(&second, residents, "steal"), 0);
	ck_assert_int_eq(told_finish(&second, "steal"), 0);
	ck_assert_int_eq(told_finish(&first, "hold"), 0);
	ck_assert_uint_eq(residents_count(residents), 1);
	residents_free(residents);
	world_close();
}
END_TEST

/* Reading a pipe that nobody writes to lasts. With the turn all of them end. */
START_TEST(errands_are_counted_whatever_they_are)
{
	struct residents *residents = NULL;
	world_open();
	ck_assert_int_eq(mkfifo(folder_path("work/pipe"), 0600), 0);
	ck_assert_int_eq(residents_new(world.host, &residents), 0);
	ck_assert_int_eq(take_turn(residents, "crowd"), 0);
	ck_assert_int_eq(take_turn(residents, "files"), 0);
	ck_assert_uint_eq(residents_count(residents), 1);
	residents_free(residents);
	world_close();
}
END_TEST

/* What is told of a refusal is the last that is done with it: the turn may be gone behind it, and
 * its process too. */
static void leave_at_a_refusal(struct residents *residents, const char *message)
{
	struct told told;
	ck_assert_int_eq(told_start(&told, residents, message), 0);
	told.leaves = true;
	while (told.turn)
		ck_assert_int_ge(perch_host_wait(world.host, -1), 0);
}

START_TEST(a_user_may_leave_when_a_refusal_is_told)
{
	struct residents *residents = NULL;
	world_open();
	leave_at_a_refusal(NULL, "hidden");
	leave_at_a_refusal(NULL, "denied");
	ck_assert_int_eq(residents_new(world.host, &residents), 0);
	leave_at_a_refusal(residents, "hidden");
	leave_at_a_refusal(residents, "denied");
	ck_assert_int_eq(take_turn(residents, "files"), 0);
	ck_assert_uint_eq(residents_count(residents), 1);
	residents_free(residents);
	world_close();
}
END_TEST

static void wait_for_children(size_t count)
{
	while (world.host->child_count > count)
		ck_assert_int_ge(perch_host_wait(world.host, -1), 0);
	ck_assert_uint_eq(world.host->child_count, count);
}

/* The process goes on, and has not said that the turn is over. */
START_TEST(a_terminal_ends_with_a_turn_that_its_agent_does_not_end)
{
	struct residents *residents = NULL;
	struct told freed, cancelled, other;
	world_open();
	ck_assert_int_eq(residents_new(world.host, &residents), 0);
	ck_assert_int_eq(told_start(&freed, residents, "linger"), 0);
	proc_until(world.host, &freed.is_held);
	ck_assert_uint_eq(world.host->child_count, 2);
	agent_turn_free(freed.turn);
	wait_for_children(1);
	ck_assert_int_eq(told_start(&cancelled, residents, "linger"), 0);
	proc_until(world.host, &cancelled.is_held);
	ck_assert_int_eq(told_start(&other, residents, "linger"), 0);
	proc_until(world.host, &other.is_held);
	agent_turn_cancel(cancelled.turn, SIGINT);
	proc_until(world.host, &cancelled.has_ended);
	wait_for_children(2);
	agent_turn_free(cancelled.turn);
	agent_turn_free(other.turn);
	residents_free(residents);
	world_close();
}
END_TEST

/* ---- a writer that is stopped ---------------------------------------------------- */

/* In the middle: what lies beside the file has come, and goes again. */
#define STOPPED                                                                            \
	"export TMPDIR=$PWD/room; mkdir room work; echo old >work/file\n"                      \
	"head -c 40000000 /dev/zero >new\n"                                                    \
	"for i in 1 2 3 4 5; do\n"                                                             \
	"setsid sh ./writer \"$PWD/work/file\" 40000000 <new & writer=$!\n"                    \
	"until ls work/.perch-* || ! kill -0 $writer; do :; done >/dev/null 2>&1\n"            \
	"kill -TERM -$writer; wait $writer\n"                                                  \
	"[ \"$(cat work/file)\" = old ] || cmp work/file new || echo wrong; ls -A work room\n" \
	"done 2>/dev/null\n"

START_TEST(a_writer_that_is_stopped_leaves_nothing)
{
	folder_new();
	folder_write("writer", errand_write_script);
	folder_write("steps", STOPPED);
	char *said = folder_run("sh ./steps | sort -u");
	ck_assert_str_eq(said, "\nfile\nroom:\nwork:");
	free(said);
}
END_TEST

/* Before each of its lines, where there is no file, one, or one with two names. */
#define STEPPED                                                                  \
	"export TMPDIR=$PWD/room; mkdir room; n=0\n"                                 \
	"while [ $((n += 1)) -le $(wc -l <writer) ]; do\n"                           \
	"sed \"${n}i kill -TERM \\$\\$\" writer >stopped\n"                          \
	"for before in none old two; do\n"                                           \
	"rm -rf work other; mkdir work; [ $before = none ] || echo old >work/file\n" \
	"[ $before != two ] || ln work/file other\n"                                 \
	"printf 'all of it' | sh ./stopped \"$PWD/work/file\" 9\n"                   \
	"has=$(cat work/file 2>/dev/null || echo none)\n"                            \
	"case $before,$has in none,none | old,old | two,old | *,all\\ of\\ it) ;;\n" \
	"*) echo \"wrong: before line $n, $before: $has\" ;; esac\n"                 \
	"ls -A work room; done; done\n"

START_TEST(a_writer_that_is_stopped_at_any_step_leaves_a_whole_file)
{
	folder_new();
	folder_write("writer", errand_write_script);
	folder_write("steps", STEPPED);
	char *said = folder_run("sh ./steps 2>/dev/null | sort -u");
	ck_assert_str_eq(said, "\nfile\nroom:\nwork:");
	free(said);
}
END_TEST

/* ---- a full disk --------------------------------------------------------------- */

/* Of 256 KiB: two of these files do not fit, and a longer one does not at all. What is beside the
 * file is room for all of it, in place too. */
#define FULL                                                                \
	"letters() { head -c $2 /dev/zero | tr '\\0' $1; }\n"                   \
	"put() { letters $1 $2 | sh ../writer \"$PWD/$3\" $2; echo $?; }\n"     \
	"has() { letters $1 $2 | cmp -s - $3 || echo \"wrong: $3\"; }\n"        \
	"cd small; letters a 150000 >one; put b 150000 one; has a 150000 one\n" \
	"ln one other; put b 400000 one; has a 150000 other\n"                  \
	"put b 170000 one; has b 170000 other; put b 10 one; has b 10 other\n"  \
	"put c 400000 new; put c 20000 new; has c 20000 new\n"                  \
	"letters d 30 | sh ../writer \"$PWD/new\" 31; echo $?; has c 20000 new; ls -A\n"

START_TEST(a_full_disk_leaves_the_old_content)
{
	folder_new();
	ck_assert_int_eq(mkdir(folder_path("small"), 0700), 0);
	folder_write("writer", errand_write_script);
	folder_write("steps", FULL);
	if (!folder_mount(folder_path("small"))) {
		printf("# no mounts here\n");
		return;
	}
	char *said = folder_run("sh ./steps 2>/dev/null");
	ck_assert_str_eq(said, "1\n1\n0\n0\n1\n0\n1\nnew\none\nother");
	free(said);
	umount2(folder_path("small"), MNT_DETACH);
}
END_TEST

/* ---- without memory ------------------------------------------------------------ */

/* What fails fails alone: the next turn is as any other. */
static int live(void *data)
{
	struct residents *residents = NULL;
	int r = residents_new(world.host, &residents);
	if (r == 0)
		r = take_turn(residents, data);
	if (r < 0 && residents)
		ck_assert_msg(take_turn(residents, data) == 0, "the turn behind one that failed fails");
	residents_free(residents);
	while (world.host->child_count) /* none is left: the test's own limit says so otherwise */
		ck_assert_int_ge(perch_host_wait(world.host, -1), 0);
	return r;
}

static void live_without_memory(const char *message)
{
	world_open();
	ck_assert_int_eq(live((void *)message), 0);      /* what the host keeps is there */
	ck_assert_ptr_nonnull(dir_cache_of(world.host)); /* kept where rules cannot be made ahead */
	unsigned failed = oom_every(live, (void *)message);
	printf("# %s: %u allocations\n", message, failed);
	ck_assert_uint_ge(failed, 40);
	world_close();
}

START_TEST(memory_may_run_out_for_files)
{
	live_without_memory("files");
}
END_TEST

/* The agent cannot take the answer at once. */
START_TEST(memory_may_run_out_for_a_large_file)
{
	live_without_memory("large");
}
END_TEST

START_TEST(memory_may_run_out_for_a_terminal)
{
	live_without_memory("terminal");
}
END_TEST

START_TEST(memory_may_run_out_for_questions)
{
	live_without_memory("questions");
}
END_TEST

SUITE_MAIN("agent-errands", a_full_disk_leaves_the_old_content,
	a_writer_that_is_stopped_leaves_nothing,
	a_writer_that_is_stopped_at_any_step_leaves_a_whole_file,
	a_user_may_leave_when_a_refusal_is_told,
	a_terminal_ends_with_a_turn_that_its_agent_does_not_end, a_terminal_is_of_one_session,
	errands_are_counted_whatever_they_are, memory_may_run_out_for_files,
	memory_may_run_out_for_a_large_file, memory_may_run_out_for_a_terminal,
	memory_may_run_out_for_questions)
