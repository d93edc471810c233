/* A short question to another program. */
#include "cli/ui/inquiry.h"

#include "base/str.h"
#include "cli/cli.h"
#include "proc/capture.h"
#include "proc/room.h"

#define INQUIRY_TIMEOUT_NS (10 * NSEC_PER_SEC)

static void inquiry_done(void *data, struct capture *capture)
{
	(void)capture;
	*(bool *)data = true;
}

/* The first line is kept; a program that does not answer in time is ended. */
int inquire_confined(perch_host *host, const struct perch_confine *confine, const char *cwd,
	const char *const *argv, struct inquiry *ret_inquiry, perch_err *err)
{
	bool is_done = false;
	const struct capture_spec spec = {
		.argv = argv,
		.cwd = cwd,
		.confine = confine,
		.limit = sizeof(ret_inquiry->line) - 1,
		.timeout_ns = INQUIRY_TIMEOUT_NS,
		.drop_stderr = true,
		.done = inquiry_done,
		.data = &is_done,
	};
	struct capture *capture;
	int r = capture_start(host, &spec, &capture, err);
	if (r < 0)
		return r;
	while (!is_done && r >= 0)
		r = perch_host_wait(host, -1);
	struct str text = { capture->out.data, capture->out.len };
	struct str line = str_cut(&text, '\n');
	ret_inquiry->code = capture_code(capture);
	snprintf(ret_inquiry->line, sizeof(ret_inquiry->line), "%.*s", (int)line.len,
		line.len ? line.data : "");
	capture_free(capture);
	return r < 0 ? r : 0;
}

static int inquiry_run_in(perch_host *host, struct room *room, const char *const *argv,
	struct inquiry *ret_inquiry, perch_err *err)
{
	const struct perch_confine confine = { .landlock_fd = -1, .room = room };
	return inquire_confined(host, &confine, NULL, argv, ret_inquiry, err);
}

static int inquiry_make_host(perch_guard_mode guard, perch_host **ret_host, perch_err *err)
{
	perch_host_options options = cli_host_options();
	options.guard = guard;
	return perch_host_new(&options, ret_host, err);
}

int inquire(
	const char *const *argv, perch_guard_mode guard, struct inquiry *ret_inquiry, perch_err *err)
{
	perch_host *host;
	int r = inquiry_make_host(guard, &host, err);
	if (r < 0)
		return r;
	r = inquiry_run_in(host, NULL, argv, ret_inquiry, err);
	perch_host_free(host);
	return r;
}

/* Without a guard: the room itself ends with its host. */
int inquire_in_room(
	const char *const *argv, bool *ret_has_own_proc, struct inquiry *ret_inquiry, perch_err *err)
{
	perch_host *host;
	int r = inquiry_make_host(PERCH_GUARD_OFF, &host, err);
	if (r < 0)
		return r;
	struct room *room = NULL;
	r = room_open(host, NULL, 0, &room, err);
	if (r == 0)
		r = inquiry_run_in(host, room, argv, ret_inquiry, err);
	if (r == 0)
		*ret_has_own_proc = room_has_own_proc(room);
	room_close(room);
	perch_host_free(host);
	return r;
}
