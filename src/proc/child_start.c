/* From a spec to a running child. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/sized.h"
#include "proc/child.h"
#include "proc/confine.h"
#include "proc/program.h"
#include "proc/room.h"

/* The child's ends of its pipes: closed in the parent as soon as it lives. */
struct ends {
	int of_child[3];
	bool owned[3]; /* false: the caller's own descriptor, or ours for good */
};

static void child_start_close_ends(struct ends *ends)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (ends->owned[fd])
			fd_close(ends->of_child[fd]);
	}
}

static int child_start_copy_spec(
	const perch_child_spec *spec, perch_child_spec *ret_copy, perch_err *err)
{
	perch_child_spec copy = PERCH_CHILD_SPEC_INIT;
	const size_t first = SIZED_UP_TO(perch_child_spec, program_fd);
	int r = sized_copy(&copy, sizeof(copy), spec, first, err);
	if (!copy.env)
		copy.env = (const char *const *)environ;
	if (!copy.program && copy.argv)
		copy.program = copy.argv[0];
	if (!copy.line_limit)
		copy.line_limit = PERCH_LINE_LIMIT_DEFAULT;
	if (!copy.write_limit)
		copy.write_limit = PERCH_WRITE_LIMIT_DEFAULT;
	if (!copy.tail_limit)
		copy.tail_limit = PERCH_TAIL_LIMIT_DEFAULT;
	*ret_copy = copy;
	return r;
}

static bool child_start_is_piped(perch_output_mode mode)
{
	return mode == PERCH_OUTPUT_LINES || mode == PERCH_OUTPUT_BYTES || mode == PERCH_OUTPUT_TAIL;
}

/* Makes a pipe; ours is the one end, non-blocking, the child's the other. */
static int child_start_make_pipe(struct ends *ends, int fd, int *ret_ours)
{
	int read_end;
	int write_end;
	int r = fd_pipe(&read_end, &write_end);
	if (r < 0)
		return r;
	_cleanup_fd_ int ours = fd == STDIN_FILENO ? write_end : read_end;
	ends->of_child[fd] = fd == STDIN_FILENO ? read_end : write_end;
	ends->owned[fd] = true;
	r = fd_set_nonblocking(ours);
	if (r < 0)
		return r;
	*ret_ours = fd_steal(&ours);
	return 0;
}

static int child_start_prepare_stdin(
	perch_child *child, const perch_child_spec *spec, struct ends *ends)
{
	int ours = -1;
	int r = 0;
	if (spec->stdin_mode == PERCH_STDIN_NULL)
		ends->of_child[STDIN_FILENO] = child->host->spawner.null_fd;
	else if (spec->stdin_mode == PERCH_STDIN_FD)
		ends->of_child[STDIN_FILENO] = spec->stdin_fd;
	else if (spec->stdin_mode == PERCH_STDIN_PIPE)
		r = child_start_make_pipe(ends, STDIN_FILENO, &ours);
	child->outbox.source.fd = ours;
	return r;
}

/* -1 would mean "ours" from here on: not what the caller asked for. */
static bool child_start_lacks_descriptor(const perch_child_spec *spec)
{
	return (spec->stdin_mode == PERCH_STDIN_FD && spec->stdin_fd < 0) ||
		(spec->stdout_mode == PERCH_OUTPUT_FD && spec->stdout_fd < 0) ||
		(spec->stderr_mode == PERCH_OUTPUT_FD && spec->stderr_fd < 0);
}

static int child_start_prepare_output(
	perch_child *child, perch_stream which, perch_output_mode mode, int fd, struct ends *ends)
{
	struct stream *stream = child_stream(child, which);
	stream->mode = mode;
	if (mode == PERCH_OUTPUT_NULL)
		ends->of_child[which] = child->host->spawner.null_fd;
	else if (mode == PERCH_OUTPUT_FD)
		ends->of_child[which] = fd;
	if (!child_start_is_piped(mode))
		return 0;
	int ours = -1;
	int r = child_start_make_pipe(ends, (int)which, &ours);
	return r < 0 ? r : stream_open(stream, ours);
}

static int child_start_prepare_streams(
	perch_child *child, const perch_child_spec *spec, struct ends *ends, perch_err *err)
{
	int r = child_start_prepare_stdin(child, spec, ends);
	if (r == 0)
		r = child_start_prepare_output(
			child, PERCH_STDOUT, spec->stdout_mode, spec->stdout_fd, ends);
	if (r == 0)
		r = child_start_prepare_output(
			child, PERCH_STDERR, spec->stderr_mode, spec->stderr_fd, ends);
	if (r == 0)
		return 0;
	err_set(err, r, "cannot run '%s': no pipe: %s", spec->program, perch_strerror(r));
	if (err)
		err->stage = spawn_stage_name(STAGE_PIPE);
	return r;
}

static int child_start_promise_timers(perch_host *host)
{
	for (int i = 0; i < CHILD_TIMERS; i++) {
		int r = timers_promise(&host->loop.timers);
		if (r < 0) {
			while (i-- > 0)
				timers_release(&host->loop.timers);
			return r;
		}
	}
	return 0;
}

static perch_reach child_start_reach_of(const perch_child_spec *spec)
{
	if (spec->confine && spec->confine->room)
		return PERCH_REACH_PIDNS;
	if (spec->confine && spec->confine->cgroup)
		return PERCH_REACH_CGROUP;
	return spec->session == PERCH_SESSION_OWN ? PERCH_REACH_GROUP : PERCH_REACH_PROCESS;
}

static perch_child *child_start_new_child(perch_host *host, const perch_child_spec *spec)
{
	perch_child *child = calloc(1, sizeof(*child));
	if (!child || child_start_promise_timers(host) < 0) {
		free(child);
		return NULL;
	}
	child->host = host;
	/* A callback that a newer program sets and this library does not know is never called. */
	if (spec->events)
		sized_copy(&child->events, sizeof(child->events), spec->events,
			SIZED_UP_TO(perch_child_events, ended), NULL);
	child->data = spec->data;
	child->owns_session = spec->session == PERCH_SESSION_OWN;
	child->keep_group = spec->keep_group;
	child->keeps_background = spec->background == PERCH_BACKGROUND_KEEP;
	child->linger_ns = spec->linger_ns;
	child->result.exit_code = -1;
	child->result.reach = child_start_reach_of(spec);
	ladder_init(&child->ladder, spec->ladder, spec->ladder_len);
	outbox_init(&child->outbox, &host->loop, -1, spec->write_limit, NULL);
	child->outbox.raises_nothing = host->ignores_sigpipe;
	for (int i = 0; i < STREAMS; i++)
		child->streams[i] = (struct stream){
			.source = { .fd = -1 },
			.which = (perch_stream)(PERCH_STDOUT + i),
			.loop = &host->loop,
			.scratch = host->scratch,
			.child = child,
			.lines = { .limit = spec->line_limit },
			.tail = { .limit = spec->tail_limit },
		};
	child_attach(child);
	return child;
}

void child_free_memory(perch_child *child)
{
	for (int i = 0; i < STREAMS; i++)
		stream_free(&child->streams[i]);
	outbox_free(&child->outbox);
	for (int i = 0; i < CHILD_TIMERS; i++)
		timers_release(&child->host->loop.timers);
	free(child);
}

/* A child that enters a room starts at its root: a relative directory counts from ours, by its
 * name, because in there another directory may be in its place. When ours was removed, the child
 * starts in the root. */
static int child_start_prepare_entry(
	const perch_child_spec *spec, const struct ends *ends, char **ret_here, perch_err *err)
{
	int r = room_admit(ends->of_child, err);
	if (r < 0 || (spec->cwd && spec->cwd[0] == '/'))
		return r;
	*ret_here = getcwd(NULL, 0);
	r = *ret_here || (errno == ENOENT && !spec->cwd) ? 0 : -errno;
	return r == 0 ? 0
				  : err_set(err, r, "cannot run '%s' in the current directory: %s", spec->program,
						perch_strerror(r));
}

static bool child_start_has_mark(const perch_host *host, uint64_t mark)
{
	const perch_child *child = host->children;
	while (child && child->mark != mark)
		child = child->next;
	return child;
}

/* Gives the child a mark that no other one has, by which its tree is known. */
static bool child_start_mark(perch_child *child, struct bare_limit *ret_limit)
{
	perch_host *host = child->host;
	uint64_t mark;
	if (child->keeps_background)
		return false;
	do {
		if (!trees_mark(&host->trees, &mark, ret_limit))
			return false;
	} while (trees_are_counted_again(&host->trees) && child_start_has_mark(host, mark));
	child->mark = mark;
	guard_keep_trees(&host->guard, host->trees.mark);
	if (child->result.reach < PERCH_REACH_CGROUP)
		child->result.reach = PERCH_REACH_TREE;
	return true;
}

/* The birth itself. */
static int child_start_launch(perch_child *child, const perch_child_spec *spec, const char *path,
	const struct ends *ends, perch_err *err)
{
	perch_host *host = child->host;
	struct room *room = spec->confine ? spec->confine->room : NULL;
	struct bare_limit mark;
	bool is_marked = child_start_mark(child, &mark);
	_cleanup_free_ char *here = NULL;
	int r = room ? child_start_prepare_entry(spec, ends, &here, err) : 0;
	if (r < 0 && err)
		err->stage = spawn_stage_name(STAGE_ROOM);
	if (r < 0)
		return r;
	struct spawn_plan plan = {
		.path = path,
		.program_fd = spec->program_fd,
		.argv = spec->argv,
		.env = spec->env,
		.cwd = spec->cwd,
		.here = here,
		.stdio = { ends->of_child[0], ends->of_child[1], ends->of_child[2] },
		.own_session = child->owns_session,
		.die_with_thread = host->die_with_thread,
		.guard_slot = child->guard_slot,
		.mark = is_marked ? &mark : NULL,
		.open_files = host->open_files.rlim_max ? &host->open_files : NULL,
		.until_ns = host->births_until_ns,
		.confine = spec->confine,
	};
	struct spawn_failure failure;
	child->born_ns = clock_now_ns();
	if (spawner_spawn(&host->spawner, &plan, &child->pid, &child->exit.fd, &failure) < 0)
		return spawn_explain(&failure, &plan, err);
	room_enter(room);
	child->room = room;
	return 0;
}

static void child_start_join_host(perch_child *child)
{
	perch_host *host = child->host;
	child->next = host->children;
	child->link = &host->children;
	if (child->next)
		child->next->link = &child->next;
	host->children = child;
	host->child_count++;
}

/* For a program given as an open file, the name is for messages alone. */
static int child_start_find_program(const perch_child_spec *spec, char **ret_path, perch_err *err)
{
	if (!spec->program_fd)
		return program_find(spec->program, spec->env, ret_path, err);
	char *path = strdup(spec->program);
	if (!path)
		return err_no_memory(err);
	*ret_path = path;
	return 0;
}

/* Everything that can fail before the birth; then the birth. */
static int child_start_everything(
	perch_child *child, const perch_child_spec *spec, struct ends *ends, perch_err *err)
{
	_cleanup_free_ char *path = NULL;
	bool is_in_room = child->result.reach == PERCH_REACH_PIDNS;
	int r = child_start_find_program(spec, &path, err);
	/* Before there are pipes: a guard that is being born holds copies of our descriptors. */
	if (r == 0 && !is_in_room) /* the init of a room is a guard of its own */
		r = guard_reserve(&child->host->guard, &child->guard_slot, err);
	if (r < 0)
		return r;
	child->result.guarded = is_in_room || child->guard_slot;
	r = child_start_prepare_streams(child, spec, ends, err);
	if (r == 0)
		r = child_start_launch(child, spec, path, ends, err);
	if (r < 0)
		guard_release(&child->host->guard, &child->guard_slot);
	return r;
}

/* From here on the child lives: if it cannot be watched, it is killed. */
static int child_start_watch(perch_child *child, perch_err *err)
{
	child_start_join_host(child);
	int r = loop_watch(&child->host->loop, &child->exit, EPOLLIN);
	if (r < 0) {
		perch_host *host = child->host;
		child_destroy(child);
		/* In a callback, one of the ended children may be the one that is reporting. */
		if (!host->loop.dispatching)
			child_free_buried(host);
		return err_set(err, r, "cannot watch the child: %s", perch_strerror(r));
	}
	return 0;
}

int perch_child_start(
	perch_host *host, const perch_child_spec *spec, perch_child **ret_child, perch_err *err)
{
	perch_child_spec copy;
	int r = child_start_copy_spec(spec, &copy, err);
	if (r < 0)
		return r;
	if (!copy.argv || !copy.argv[0])
		return err_set(err, -EINVAL, "a child needs an argv with at least its name");
	if (child_start_lacks_descriptor(&copy))
		return err_set(
			err, -EBADF, "cannot run '%s': a stream of it has no descriptor", copy.program);
	perch_child *child = child_start_new_child(host, &copy);
	if (!child)
		return err_no_memory(err);
	struct ends ends = { .of_child = { -1, -1, -1 } };
	r = child_start_everything(child, &copy, &ends, err);
	child_start_close_ends(&ends);
	guard_settle(&host->guard);
	if (r < 0) {
		child_free_memory(child);
		return r;
	}
	r = child_start_watch(child, err);
	if (r < 0)
		return r;
	*ret_child = child;
	return 0;
}
