/* Attachments of a turn. */
#include "queue/uploads.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/macros.h"
#include "base/paths.h"
#include "base/tree.h"
#include "data/json.h"
#include "queue/queue.h"
#include "wire/http_text.h"

static const struct {
	const char *type; /* how a media type begins, and what a kind is called */
	perch_attachment_kind kind;
} upload_kinds[] = {
	{ "image", PERCH_ATTACHMENT_IMAGE },
	{ "audio", PERCH_ATTACHMENT_AUDIO },
	{ "video", PERCH_ATTACHMENT_VIDEO },
	{ "file", PERCH_ATTACHMENT_FILE },
};

/* ---- checking -------------------------------------------------------------------- */

static bool upload_is_remote(struct str url)
{
	return str_has_prefix(url, STR("http://")) || str_has_prefix(url, STR("https://"));
}

/* "data:image/png;base64,…": the type and the text behind the comma. */
static bool upload_take_apart(struct str url, struct str *ret_type, struct str *ret_text)
{
	if (!str_has_prefix(url, STR("data:")))
		return false;
	struct str rest = { url.data + 5, url.len - 5 };
	struct str head = str_cut(&rest, ',');
	if (!str_has_suffix(head, STR(";base64")))
		return false;
	*ret_type = str_cut(&head, ';');
	*ret_text = rest;
	return true;
}

const char *uploads_refuse_url(struct str url)
{
	struct str type, text;
	if (upload_is_remote(url))
		return NULL;
	if (!upload_take_apart(url, &type, &text))
		return "an attachment's url is data:TYPE;base64,… or http(s)://…: "
			   "files of the server's machine cannot be named";
	return base64_is(text) ? NULL : "the text of an attachment's data: url is no base64";
}

const char *uploads_refuse(const perch_json_value *list)
{
	const char *wrong = NULL;
	if (!list || perch_json_type_of(list) == PERCH_JSON_NULL)
		return NULL;
	if (perch_json_type_of(list) != PERCH_JSON_ARRAY)
		return "attachments must be a list";
	if (perch_json_count(list) > UPLOADS_MAX)
		return UPLOADS_TOO_MANY;
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *item; !wrong && (item = perch_json_next(&iter));) {
		const perch_json_value *url = perch_json_get(item, "url");
		wrong = perch_json_type_of(url) == PERCH_JSON_STRING
			? uploads_refuse_url(json_str(url))
			: "an attachment is an object with a `url`";
	}
	return wrong;
}

/* ---- writing --------------------------------------------------------------------- */

static int uploads_path(const struct uploads *uploads, char **ret_path)
{
	char below[64];
	if (!queue_is_id(str_from(uploads->id)))
		return -EINVAL; /* it would lead elsewhere, and what is there is removed */
	snprintf(below, sizeof(below), "perch/attachments/%s", uploads->id);
	return paths_user(PATH_STATE, below, ret_path, NULL);
}

static perch_attachment_kind upload_kind(struct str name)
{
	for (size_t i = 0; i < COUNT(upload_kinds); i++) {
		if (str_has_prefix(name, str_from(upload_kinds[i].type)))
			return upload_kinds[i].kind;
	}
	return PERCH_ATTACHMENT_FILE;
}

/* "image/png" ends a name with ".png", if that is a plain word. */
static void upload_name(size_t number, struct str type, char out[48])
{
	str_cut(&type, '/');
	size_t len = 0;
	while (len < type.len && len < 8 && http_is_alnum(type.data[len]))
		len++;
	bool is_word = len && len == type.len;
	snprintf(out, 48, "%zu%s%.*s", number, is_word ? "." : "", is_word ? (int)len : 0,
		is_word ? type.data : "");
}

/* Not to disk: the job's request, which is there, has it all, and a new process writes it anew. */
static int upload_write(const char *path, struct str bytes)
{
	unlink(path);
	_cleanup_fd_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd_write_all(fd, bytes.data, bytes.len);
}

static int upload_save(struct uploads *uploads, size_t number, struct str type, struct str text,
	const char **ret_url, perch_err *err)
{
	_cleanup_free_ char *directory = NULL;
	_cleanup_(buf_free) struct buf bytes = { 0 };
	char name[48];
	int r = base64_append_decoded(&bytes, text);
	if (r < 0)
		return err_set(err, r, "attachment %zu is no base64", number);
	r = uploads_path(uploads, &directory);
	if (r == 0)
		r = paths_make(directory, err);
	upload_name(number, type, name);
	const char *path = r == 0 ? arena_join(uploads->arena, directory, "/", name, NULL) : NULL;
	const char *url = path ? arena_join(uploads->arena, "file://", path, NULL) : NULL;
	if (r == 0 && !url)
		return err_no_memory(err);
	uploads->has_files = true;
	if (r == 0)
		r = upload_write(path, (struct str){ bytes.data ? bytes.data : "", bytes.len });
	*ret_url = url;
	return r < 0 ? err_set(err, r, "attachment %zu: %s", number, perch_strerror(r)) : 0;
}

static int upload_take(struct uploads *uploads, const perch_json_value *item, size_t number,
	perch_attachment *attachment, perch_err *err)
{
	struct str url = json_str(perch_json_get(item, "url"));
	const perch_json_value *name = perch_json_get(item, "name");
	const perch_json_value *kind = perch_json_get(item, "kind");
	struct str type = { "", 0 };
	struct str text;
	int r = 0;
	if (upload_take_apart(url, &type, &text))
		r = upload_save(uploads, number, type, text, &attachment->url, err);
	else
		attachment->url = arena_dup(uploads->arena, url);
	if (perch_json_type_of(name) == PERCH_JSON_STRING)
		attachment->name = arena_dup(uploads->arena, json_str(name));
	attachment->kind =
		upload_kind(perch_json_type_of(kind) == PERCH_JSON_STRING ? json_str(kind) : type);
	return r == 0 && !attachment->url ? err_no_memory(err) : r;
}

int uploads_write(struct uploads *uploads, const perch_json_value *list, perch_job_request *request,
	perch_err *err)
{
	size_t count = perch_json_count(list);
	const char *wrong = uploads_refuse(list);
	if (wrong)
		return err_set(err, -EINVAL, "%s", wrong);
	perch_attachment *items = arena_alloc(uploads->arena, (count + 1) * sizeof(*items));
	if (!items)
		return err_no_memory(err);
	memset(items, 0, (count + 1) * sizeof(*items));
	perch_json_iter iter = perch_json_iterate(list);
	size_t number = 0;
	for (const perch_json_value *item; (item = perch_json_next(&iter)); number++) {
		int r = upload_take(uploads, item, number + 1, &items[number], err);
		if (r < 0)
			return r;
	}
	request->attachments = items;
	request->attachment_count = count;
	return 0;
}

void uploads_remove(struct uploads *uploads)
{
	_cleanup_free_ char *path = NULL;
	if (uploads->has_files && uploads_path(uploads, &path) == 0)
		tree_remove(path);
	uploads->has_files = false;
}
