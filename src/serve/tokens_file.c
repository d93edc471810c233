/* The file of tokens: read whole, written whole under a lock. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/paths.h"
#include "base/replace.h"
#include "data/json.h"
#include "data/json_member.h"
#include "serve/tokens.h"

#define TOKENS_FILE "tokens.json"
#define TOKENS_LOCK "tokens.lock"
enum { TOKENS_LOCK_SECONDS = 5 };

int tokens_path(char **ret_path, perch_err *err)
{
	return paths_user(PATH_STATE, "perch/" TOKENS_FILE, ret_path, err);
}

/* ---- reading ------------------------------------------------------------------ */

static const char *tokens_text(
	struct tokens *tokens, const perch_json_value *object, const char *name)
{
	const perch_json_value *value = perch_json_get(object, name);
	if (perch_json_type_of(value) != PERCH_JSON_STRING)
		return NULL;
	return arena_dup(&tokens->arena, json_str(value));
}

static int tokens_read_allows(
	struct tokens *tokens, const perch_json_value *list, const char *const **ret_allows)
{
	if (perch_json_type_of(list) != PERCH_JSON_ARRAY)
		return 0;
	const char **allows =
		arena_alloc(&tokens->arena, (perch_json_count(list) + 1) * sizeof(*allows));
	size_t count = 0;
	if (!allows)
		return -ENOMEM;
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *item; (item = perch_json_next(&iter));) {
		if (perch_json_type_of(item) != PERCH_JSON_STRING)
			return PERCH_ESYNTAX;
		allows[count] = arena_dup(&tokens->arena, json_str(item));
		if (!allows[count++])
			return -ENOMEM;
	}
	allows[count] = NULL;
	*ret_allows = allows;
	return 0;
}

static int tokens_read_one(
	struct tokens *tokens, const perch_json_value *object, struct token *token)
{
	*token = (struct token){
		.name = tokens_text(tokens, object, "name"),
		.hash = tokens_text(tokens, object, "hash"),
		.is_admin = perch_json_is(perch_json_get(object, "role"), "admin"),
	};
	perch_json_int64(perch_json_get(object, "created"), &token->created);
	perch_json_int64(perch_json_get(object, "expires"), &token->expires);
	if (!token->name || !token->hash || !token_is_name(token->name) ||
		strlen(token->hash) != SHA256_HEX_SIZE - 1)
		return PERCH_ESYNTAX;
	return tokens_read_allows(tokens, perch_json_get(object, "allow"), &token->allows);
}

static int tokens_read_all(struct tokens *tokens, const perch_json_value *root)
{
	const perch_json_value *list = perch_json_get(root, "tokens");
	size_t count = perch_json_count(list);
	if (perch_json_type_of(list) != PERCH_JSON_ARRAY || count > TOKENS_MAX)
		return PERCH_ESYNTAX;
	tokens->items = arena_alloc(&tokens->arena, (count + 1) * sizeof(*tokens->items));
	if (!tokens->items)
		return -ENOMEM;
	perch_json_iter iter = perch_json_iterate(list);
	for (const perch_json_value *item; (item = perch_json_next(&iter));) {
		int r = tokens_read_one(tokens, item, &tokens->items[tokens->count]);
		if (r < 0)
			return r;
		tokens->count++;
	}
	return 0;
}

static int tokens_parse(struct tokens *tokens, const char *path, struct str text, perch_err *err)
{
	_cleanup_json_ perch_json *json = NULL;
	const perch_json_value *root = NULL;
	perch_err inner = { 0 };
	if (perch_json_new(NULL, &json) < 0)
		return err_no_memory(err);
	int r = perch_json_parse(json, text.data, text.len, &root, &inner);
	if (r < 0)
		return file_blame(err, path, &inner);
	r = tokens_read_all(tokens, root);
	if (r == -ENOMEM)
		return err_no_memory(err);
	return r < 0 ? err_set(err, r, "%s: that is no list of tokens", path) : 0;
}

int tokens_read(struct tokens *ret_tokens, perch_err *err)
{
	struct tokens tokens = { 0 };
	_cleanup_free_ char *path = NULL;
	_cleanup_(buf_free) struct buf text = { 0 };
	int r = tokens_path(&path, err);
	if (r < 0)
		return r;
	r = file_read(path, TOKENS_FILE_MAX, &text, err);
	if (r == 0)
		r = tokens_parse(&tokens, path, (struct str){ text.data, text.len }, err);
	if (r < 0 && r != -ENOENT) {
		tokens_free(&tokens);
		return r;
	}
	*ret_tokens = tokens;
	return 0;
}

void tokens_free(struct tokens *tokens)
{
	arena_free(&tokens->arena);
	*tokens = (struct tokens){ 0 };
}

/* ---- writing ------------------------------------------------------------------ */

static void tokens_write_one(perch_json_writer *out, const struct token *token)
{
	perch_json_begin_object(out);
	json_write_text(out, "name", str_from(token->name));
	json_write_text(out, "hash", str_from(token->hash));
	json_write_text(out, "role", token->is_admin ? STR("admin") : STR("user"));
	perch_json_write_name(out, "created");
	perch_json_write_int64(out, token->created);
	if (token->expires) {
		perch_json_write_name(out, "expires");
		perch_json_write_int64(out, token->expires);
	}
	if (token->allows) {
		perch_json_write_name(out, "allow");
		perch_json_begin_array(out);
		for (const char *const *pattern = token->allows; *pattern; pattern++)
			perch_json_write_string(out, *pattern);
		perch_json_end_array(out);
	}
	perch_json_end_object(out);
}

/* All of them but the one of this name, and the added one; both may be NULL. */
static int tokens_write(int directory, const struct tokens *tokens, const char *without,
	const struct token *added, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	perch_json_writer out = json_writer_on(&text);
	out.style = PERCH_JSON_PRETTY;
	perch_json_begin_object(&out);
	perch_json_write_name(&out, "tokens");
	perch_json_begin_array(&out);
	for (size_t i = 0; i < tokens->count; i++) {
		if (!without || strcmp(tokens->items[i].name, without) != 0)
			tokens_write_one(&out, &tokens->items[i]);
	}
	if (added)
		tokens_write_one(&out, added);
	perch_json_end_array(&out);
	perch_json_end_object(&out);
	buf_append_char(&text, '\n');
	if (text.failed)
		return err_no_memory(err);
	int r = replace_file(directory, TOKENS_FILE, (struct str){ text.data, text.len });
	return r < 0 ? err_set(err, r, "the tokens cannot be written: %s", perch_strerror(r)) : 0;
}

/* The tokens under the lock: no other process changes them. */
struct tokens_held {
	struct tokens tokens;
	int directory;
	int lock;
};

static void tokens_let_go(struct tokens_held *held)
{
	tokens_free(&held->tokens);
	fd_close(held->directory);
	fd_close(held->lock);
}

static int tokens_hold(struct tokens_held *held, perch_err *err)
{
	_cleanup_free_ char *path = NULL;
	*held = (struct tokens_held){ .directory = -1, .lock = -1 };
	int r = paths_user(PATH_STATE, "perch", &path, err);
	if (r == 0)
		r = paths_make(path, err);
	if (r < 0)
		return r;
	held->directory = fd_directory(AT_FDCWD, path, O_RDONLY);
	if (held->directory < 0)
		return err_set(err, held->directory, "%s: %s", path, perch_strerror(held->directory));
	held->lock = lock_wait(held->directory, TOKENS_LOCK, TOKENS_LOCK_SECONDS * NSEC_PER_SEC);
	if (held->lock < 0)
		return err_set(err, held->lock, "the tokens are locked: %s", perch_strerror(held->lock));
	return tokens_read(&held->tokens, err);
}

int tokens_add(const struct token *token, perch_err *err)
{
	_cleanup_(tokens_let_go) struct tokens_held held;
	int r = tokens_hold(&held, err);
	if (r < 0)
		return r;
	if (strcmp(token->name, TOKEN_LOCAL_USER) == 0)
		return err_set(err, -EEXIST, "'" TOKEN_LOCAL_USER "' is the name of the page's own user");
	if (tokens_named(&held.tokens, token->name))
		return err_set(err, -EEXIST, "there is a token '%s' already", token->name);
	if (held.tokens.count >= TOKENS_MAX)
		return err_set(err, PERCH_ELIMIT, "there are %d tokens: no more fit", TOKENS_MAX);
	return tokens_write(held.directory, &held.tokens, NULL, token, err);
}

int tokens_remove(const char *name, perch_err *err)
{
	_cleanup_(tokens_let_go) struct tokens_held held;
	int r = tokens_hold(&held, err);
	if (r < 0)
		return r;
	if (!tokens_named(&held.tokens, name))
		return err_set(err, -ENOENT, "there is no token '%.64s'", name);
	return tokens_write(held.directory, &held.tokens, name, NULL, err);
}
