/* The blocks of a prompt as the message of a turn: texts one after the other, resources with their
 * names, images and sounds as files of a folder that is the task's. */
#include <errno.h>
#include <stdio.h>

#include "acp/editor_parts.h"
#include "base/base64.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/replace.h"
#include "base/tree.h"

/* A part stands on lines of its own. */
static void acp_text_part(struct buf *text)
{
	if (text->len && text->data[text->len - 1] != '\n')
		buf_append_char(text, '\n');
}

static void acp_text_resource(struct buf *text, const struct acp_block *block)
{
	if (!block->uri.len && !block->text.data) /* what is attached speaks for itself */
		return;
	acp_text_part(text);
	buf_printf(
		text, "[%.*s]\n", (int)(block->uri.len < 4096 ? block->uri.len : 4096), block->uri.data);
	if (block->text.data)
		buf_append(text, block->text.data, block->text.len);
	acp_text_part(text);
}

/* "image/png" ends a name with ".png", if that is a plain word. */
static void acp_text_file_name(size_t number, struct str type, char out[32])
{
	static const char *const plain = "abcdefghijklmnopqrstuvwxyz0123456789";
	str_cut(&type, '/');
	bool is_word = type.len && type.len < 9;
	for (size_t i = 0; i < type.len && is_word; i++)
		is_word = type.data[i] && strchr(plain, type.data[i]);
	snprintf(out, 32, "%zu%s%.*s", number, is_word ? "." : "", is_word ? (int)type.len : 0,
		is_word ? type.data : "");
}

static int acp_text_save(struct acp_task *task, const struct acp_block *block, size_t number,
	struct arena *arena, perch_attachment *attachment, perch_err *err)
{
	_cleanup_(buf_free) struct buf bytes = { 0 };
	char name[32];
	int r = base64_append_decoded(&bytes, block->data);
	if (r == -EINVAL)
		return err_set(err, r, "attachment %zu is no base64", number);
	if (r == 0 && !task->folder)
		r = tree_make("perch-acp-", &task->folder, err);
	if (r < 0)
		return r;
	acp_text_file_name(number, block->type, name);
	const char *path = arena_join(arena, task->folder, "/", name, NULL);
	attachment->url = path ? arena_join(arena, "file://", path, NULL) : NULL;
	attachment->name = arena_dup(arena, str_from(name));
	attachment->kind = block->kind == ACP_IMAGE ? PERCH_ATTACHMENT_IMAGE
		: block->kind == ACP_AUDIO              ? PERCH_ATTACHMENT_AUDIO
												: PERCH_ATTACHMENT_FILE;
	if (!attachment->url || !attachment->name)
		return err_no_memory(err);
	r = replace_path(path, (struct str){ bytes.data ? bytes.data : "", bytes.len });
	return r < 0 ? err_set(err, r, "attachment %zu: %s", number, perch_strerror(r)) : 0;
}

/* Whether it is a file and not a part of the message. */
static bool acp_text_is_file(const struct acp_block *block)
{
	return block->kind >= ACP_IMAGE || (block->kind == ACP_RESOURCE && !block->text.data);
}

int acp_text_read(struct acp_task *task, const struct acp_wish *wish, struct arena *arena,
	perch_job_request *request, perch_err *err)
{
	perch_attachment *files = arena_alloc(arena, wish->block_count * sizeof(*files));
	size_t count = 0;
	if (!files)
		return err_no_memory(err);
	for (size_t i = 0; i < wish->block_count; i++) {
		const struct acp_block *block = &wish->blocks[i];
		if (block->kind == ACP_TEXT)
			buf_append(&task->said, block->text.data, block->text.len);
		else
			acp_text_resource(&task->said, block);
		if (!acp_text_is_file(block))
			continue;
		files[count] = (perch_attachment){ 0 };
		int r = acp_text_save(task, block, count + 1, arena, &files[count], err);
		if (r < 0)
			return r;
		count++;
	}
	request->message = task->said.data ? task->said.data : "";
	request->message_len = task->said.len;
	request->attachments = files;
	request->attachment_count = count;
	return task->said.failed ? err_no_memory(err) : 0;
}
