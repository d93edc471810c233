/* Ctrl+X Ctrl+E in a conversation: the message in the user's editor. It has the terminal meanwhile;
 * turns are held, so that nothing is written over it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/paths.h"
#include "cli/agent/chat.h"
#include "proc/host.h"
#include "proc/program.h"

enum { MESSAGE_FILE_MAX = 64 * 1024 };

struct chat_editor {
	struct chat *chat;
	perch_child *child;
	char path[PATH_MAX];
};

static int chat_editor_write(struct chat_editor *editor, struct str text)
{
	snprintf(editor->path, sizeof(editor->path), "%s/perch-message.XXXXXX.md", paths_tmp());
	int fd = mkostemps(editor->path, 3, O_CLOEXEC);
	if (fd < 0) {
		editor->path[0] = '\0';
		return -errno;
	}
	ssize_t written = text.len ? write(fd, text.data, text.len) : 0;
	close(fd);
	return written == (ssize_t)text.len ? 0 : -EIO;
}

void chat_editor_free(struct chat *chat)
{
	struct chat_editor *editor = chat->editor;
	if (!editor)
		return;
	perch_child_free(editor->child);
	if (editor->path[0])
		unlink(editor->path);
	free(editor);
	chat->editor = NULL;
}

/* What was saved is in the line again; a failure leaves it as it was. */
static void chat_editor_close(struct chat *chat, bool is_saved)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	perch_err err = { 0 };
	int r = is_saved ? file_read(chat->editor->path, MESSAGE_FILE_MAX, &text, &err) : 0;
	chat->terminal->table->resume(chat->terminal);
	chat_editor_free(chat);
	while (text.len && text.data[text.len - 1] == '\n')
		text.len--;
	if (r < 0)
		chat_show_note(chat, "error", str_from(err.text));
	if (!is_saved || r < 0) {
		buf_append(&text, chat->typed.data, chat->typed.len);
	}
	chat_view_draft(chat, (struct str){ text.data, text.len });
	chat_hold(chat, false);
}

static void chat_editor_ended(perch_child *child, void *data, const perch_result *result)
{
	(void)child;
	struct chat *chat = data;
	bool is_well = result->exit_code == 0;
	if (!is_well)
		chat_show_note(
			chat, "error", STR("the editor failed: VISUAL or EDITOR says which one it is"));
	chat_editor_close(chat, is_well);
}

/* A setting may have options in it, so a shell reads it. */
static int chat_editor_start(struct chat *chat, perch_err *err)
{
	static const char script[] = "exec ${VISUAL:-${EDITOR:-vi}} \"$1\"";
	const char *const argv[] = { PROGRAM_SHELL, "-c", script, "sh", chat->editor->path, NULL };
	const perch_child_events events = { .size = sizeof(events), .ended = chat_editor_ended };
	perch_child_spec spec = PERCH_CHILD_SPEC_INIT;
	spec.argv = argv;
	spec.stdin_mode = PERCH_STDIN_INHERIT;
	spec.stdout_mode = PERCH_OUTPUT_INHERIT;
	spec.stderr_mode = PERCH_OUTPUT_INHERIT;
	spec.session = PERCH_SESSION_SHARED;
	spec.events = &events;
	spec.data = chat;
	return perch_child_start(chat->host, &spec, &chat->editor->child, err);
}

void chat_editor_open(struct chat *chat)
{
	perch_err err = { 0 };
	chat->editor = calloc(1, sizeof(*chat->editor));
	int r = chat->editor
		? chat_editor_write(chat->editor, (struct str){ chat->typed.data, chat->typed.len })
		: -ENOMEM;
	if (r == 0) {
		chat_hold(chat, true);
		chat->terminal->table->suspend(chat->terminal);
		r = chat_editor_start(chat, &err);
		if (r == 0)
			return;
		chat->terminal->table->resume(chat->terminal);
		chat_hold(chat, false);
	}
	chat_editor_free(chat);
	chat_show_note(chat, "error", str_from(err.code ? err.text : perch_strerror(r)));
}
