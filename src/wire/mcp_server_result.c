/* MCP server: how jobs end. */
#include <errno.h>
#include <stdio.h>

#include "base/utf8.h"
#include "wire/mcp_server_parts.h"

/* ---- the end --------------------------------------------------------------- */

/* Where the response of a job goes that ends now: to its request, or into the job until
 * its client comes back. A question that is open is taken back first. */
static struct mcp_reply mcp_job_last_reply(struct mcp_job *job)
{
	mcp_job_withdraw(job);
	mcp_relays_drop(job);
	if (job->request)
		return job->request->reply;
	return (struct mcp_reply){ .version = job->version, .keeper = job };
}

static void mcp_job_end(struct mcp_job *job)
{
	if (job->request)
		mcp_job_free(job);
	else
		job->is_ended = true;
}

/* A response begins with so much, then comes its id. */
#define MCP_RESPONSE_BEGIN "{\"jsonrpc\":\"2.0\","

void mcp_job_hand_over(struct mcp_job *job)
{
	const struct mcp_reply *reply = &job->request->reply;
	const struct buf *kept = &job->response;
	const size_t begin = sizeof(MCP_RESPONSE_BEGIN) - 1;
	perch_json_writer writer = mcp_write_begin(job->server);
	buf_append_text(writer.out, MCP_RESPONSE_BEGIN "\"id\":");
	jsonrpc_id_write(&writer, &reply->id);
	buf_append_char(writer.out, ',');
	if (kept->failed || kept->len < begin)
		writer.out->failed = true;
	else
		buf_append(writer.out, kept->data + begin, kept->len - begin);
	mcp_reply_send(reply, job->response_kind, job->response_code);
	mcp_job_free(job);
}

void mcp_job_error(struct mcp_job *job, int64_t code, struct str text, struct str data)
{
	struct mcp_reply reply = mcp_job_last_reply(job);
	mcp_reply_error(&reply, code, text, data);
	mcp_job_end(job);
}

void mcp_job_unknown(struct mcp_job *job, struct str text)
{
	bool is_resource = job->method->wish == MCP_READ_RESOURCE;
	int code = is_resource ? job->version->unknown_resource : JSONRPC_INVALID_PARAMS;
	mcp_job_error(job, code, text, (struct str){ 0 });
}

/* ---- tools ----------------------------------------------------------------- */

/* How a result is given: which part of it, and what stands in place of the rest. */
struct mcp_cut {
	struct str text;
	bool is_cut;
	bool has_uri; /* the whole is there; else it is larger than anything that is kept */
	char uri[MCP_RESULT_URI_SIZE];
	char notice[200];
	size_t chars; /* of the whole */
	bool is_json;
};

/* How many bytes the first so many characters have. */
static size_t mcp_bytes_of(struct str text, size_t chars)
{
	size_t at = 0;
	uint32_t character;
	while (chars-- && at < text.len)
		at += utf8_decode(text.data + at, text.len - at, &character);
	return at;
}

static bool mcp_is_longer(struct str text, size_t chars)
{
	return text.len > chars && utf8_count(text.data, text.len) > chars;
}

/* Keeps the whole, and says so. */
static int mcp_cut_make(struct mcp_job *job, struct str whole, bool is_json, struct mcp_cut *cut)
{
	struct mcp_server *server = job->server;
	size_t shown = cut->text.len ? utf8_count(cut->text.data, cut->text.len) : 0;
	cut->is_cut = true;
	cut->is_json = is_json;
	cut->chars = utf8_count(whole.data, whole.len);
	int r = mcp_results_put(&server->results, server->options.key, job->principal, whole, is_json,
		server->now_ns, cut->uri);
	if (r == -ENOMEM)
		return r;
	cut->has_uri = r == 0;
	snprintf(cut->notice, sizeof(cut->notice),
		"[The result has %zu characters; %zu of them are shown here. %s%s%s]", cut->chars, shown,
		cut->has_uri ? "The whole is the resource " : "The rest is lost: it is too long",
		cut->has_uri ? cut->uri : "", cut->has_uri ? ", for ten minutes." : " to be kept.");
	return 0;
}

static int mcp_cut_result(
	struct mcp_job *job, const struct mcp_result *result, struct mcp_cut *ret_cut)
{
	const size_t most = job->server->options.result_chars_max;
	struct mcp_cut cut = { .text = result->text };
	bool is_json = !result->text.data && result->structured.len;
	if (is_json)
		cut.text = result->structured;
	int r = 0;
	if (mcp_is_longer(result->content, most)) {
		cut.text = (struct str){ 0 };
		r = mcp_cut_make(job, result->content, true, &cut);
	} else if (mcp_is_longer(cut.text, most)) {
		struct str whole = cut.text;
		cut.text.len = mcp_bytes_of(whole, most);
		r = mcp_cut_make(job, whole, is_json, &cut);
	} else if (mcp_is_longer(result->structured, most)) {
		r = mcp_cut_make(job, result->structured, true, &cut);
	}
	*ret_cut = cut;
	return r;
}

static void mcp_write_text_block(perch_json_writer *writer, struct str text)
{
	perch_json_begin_object(writer);
	json_write_text(writer, "type", STR("text"));
	json_write_text(writer, "text", text);
	perch_json_end_object(writer);
}

static void mcp_write_link(perch_json_writer *writer, const struct mcp_cut *cut)
{
	perch_json_begin_object(writer);
	json_write_text(writer, "type", STR("resource_link"));
	json_write_text(writer, "uri", str_from(cut->uri));
	json_write_text(writer, "name", STR("the whole result"));
	json_write_text(writer, "mimeType", cut->is_json ? STR("application/json") : STR("text/plain"));
	perch_json_end_object(writer);
}

static void mcp_write_content(perch_json_writer *writer, const struct mcp_result *result,
	const struct mcp_cut *cut, const struct mcp_version *version)
{
	perch_json_write_name(writer, "content");
	if (result->content.len && !cut->is_cut) {
		perch_json_write_raw(writer, result->content.data, result->content.len);
		return;
	}
	perch_json_begin_array(writer);
	if (cut->text.len || !cut->is_cut)
		mcp_write_text_block(writer, cut->text);
	if (cut->is_cut)
		mcp_write_text_block(writer, str_from(cut->notice));
	if (cut->has_uri && version->has_titles)
		mcp_write_link(writer, cut);
	perch_json_end_array(writer);
}

/* Legacy clients take objects alone, and the oldest none. */
static bool mcp_is_structured(const struct mcp_result *result, const struct mcp_version *version)
{
	struct str value = str_trim(result->structured);
	return value.len && version->has_titles && (version->is_modern || value.data[0] == '{');
}

void mcp_job_result(struct mcp_job *job, const struct mcp_result *result)
{
	struct mcp_cut cut;
	struct mcp_reply reply = mcp_job_last_reply(job);
	int r = mcp_cut_result(job, result, &cut);
	perch_json_writer writer = mcp_reply_begin(&reply, "complete");
	mcp_write_content(&writer, result, &cut, job->version);
	if (!cut.is_cut && mcp_is_structured(result, job->version)) {
		perch_json_write_name(&writer, "structuredContent");
		perch_json_write_raw(&writer, result->structured.data, result->structured.len);
	}
	if (result->is_error)
		json_write_flag(&writer, "isError", true);
	if (r < 0)
		writer.out->failed = true;
	mcp_reply_end(&reply, &writer, MCP_NOT_CACHED);
	mcp_job_end(job);
}

/* ---- any object ------------------------------------------------------------ */

static void mcp_write_member(
	perch_json_writer *writer, const perch_json_value *name, const perch_json_value *value)
{
	struct str text = json_str(name);
	perch_json_write_name_n(writer, text.data, text.len);
	perch_json_write_value(writer, value);
}

/* Members that the engine writes itself, or that legacy clients do not know. */
static bool mcp_is_left_out(
	const perch_json_value *name, const perch_json_value *value, const struct mcp_version *version)
{
	bool is_cache = perch_json_is(name, "ttlMs") || perch_json_is(name, "cacheScope");
	if (perch_json_is(name, "resultType"))
		return true;
	if (version->is_modern)
		return is_cache || perch_json_is(name, "_meta");
	return is_cache ||
		(perch_json_is(name, "structuredContent") &&
			perch_json_type_of(value) != PERCH_JSON_OBJECT);
}

static void mcp_write_meta(
	perch_json_writer *writer, const struct mcp_server *server, const perch_json_value *meta)
{
	mcp_meta_begin(writer, server);
	perch_json_iter iter = perch_json_iterate(meta);
	for (const perch_json_value *value; (value = perch_json_next(&iter));)
		if (iter.name && !perch_json_is(iter.name, MCP_META("serverInfo")))
			mcp_write_member(writer, iter.name, value);
	perch_json_end_object(writer);
}

/* If the result itself says for how long it is valid, that counts, unless it is impossible. */
static void mcp_write_cache(
	perch_json_writer *writer, const struct mcp_server *server, const perch_json_value *object)
{
	const perch_json_value *scope = perch_json_get(object, "cacheScope");
	int64_t ttl_ms;
	if (perch_json_whole_int64(perch_json_get(object, "ttlMs"), &ttl_ms) < 0 || ttl_ms < 0) {
		mcp_cache_write(writer, server, MCP_CACHED_PRIVATE);
		return;
	}
	perch_json_write_name(writer, "ttlMs");
	perch_json_write_int64(writer, ttl_ms);
	perch_json_write_name(writer, "cacheScope");
	perch_json_write_string(writer, perch_json_is(scope, "public") ? "public" : "private");
}

static void mcp_write_object(
	const struct mcp_job *job, const struct mcp_reply *reply, const perch_json_value *object)
{
	perch_json_writer writer = mcp_reply_begin(reply, "complete");
	perch_json_iter iter = perch_json_iterate(object);
	for (const perch_json_value *value; (value = perch_json_next(&iter));)
		if (!mcp_is_left_out(iter.name, value, job->version))
			mcp_write_member(&writer, iter.name, value);
	if (job->version->is_modern) {
		if (job->method->is_cacheable)
			mcp_write_cache(&writer, job->server, object);
		mcp_write_meta(&writer, job->server, perch_json_get(object, "_meta"));
	}
	perch_json_end_object(&writer);
	jsonrpc_end(&writer);
	mcp_reply_send(reply, JSONRPC_RESULT, 0);
}

void mcp_job_object(struct mcp_job *job, struct str object)
{
	const perch_json_value *root;
	struct mcp_reply reply = mcp_job_last_reply(job);
	int r = perch_json_parse(job->server->json, object.data, object.len, &root, NULL);
	if (r == 0 && perch_json_type_of(root) == PERCH_JSON_OBJECT) {
		mcp_write_object(job, &reply, root);
	} else if (r == -ENOMEM) {
		mcp_write_begin(job->server);
		job->server->out.failed = true;
		mcp_reply_send(&reply, JSONRPC_RESULT, 0);
	} else {
		mcp_reply_error(&reply, JSONRPC_INTERNAL_ERROR, STR("what came back is no JSON object"),
			(struct str){ 0 });
	}
	perch_json_clear(job->server->json);
	mcp_job_end(job);
}

/* ---- lists ----------------------------------------------------------------- */

void mcp_job_list(struct mcp_job *job, size_t count, mcp_item_fn *write, void *data)
{
	const struct mcp_server_options *options = &job->server->options;
	size_t size = options->page_size ? options->page_size : count;
	if (job->from > count || (job->from && job->from == count)) {
		mcp_job_error(job, JSONRPC_INVALID_PARAMS, STR("the list has changed: begin it again"),
			(struct str){ 0 });
		return;
	}
	size_t end = count - job->from < size ? count : job->from + size;
	struct mcp_reply reply = mcp_job_last_reply(job);
	perch_json_writer writer = mcp_reply_begin(&reply, "complete");
	struct mcp_page page = { &writer, job->version, job->server->json };
	perch_json_write_name(&writer, job->method->items);
	perch_json_begin_array(&writer);
	for (size_t i = job->from; i < end; i++)
		write(data, i, &page);
	perch_json_end_array(&writer);
	if (end < count) {
		char cursor[MCP_CURSOR_SIZE];
		mcp_cursor_write(job->method->items, end, options->key, cursor);
		json_write_text(&writer, "nextCursor", str_from(cursor));
	}
	mcp_reply_end(&reply, &writer, MCP_CACHED_LIST);
	perch_json_clear(job->server->json);
	mcp_job_end(job);
}
