/* The tokens of the gateway: read, watched, and one of its own where there is none. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/stamp.h"
#include "serve/serve_parts.h"
#include "serve/watcher.h"

void serve_tokens_revoked(void *data)
{
	struct serve *serve = data;
	cookies_sweep(&serve->cookies);
	watchers_sweep(serve);
	guests_sweep(serve);
}

int serve_tokens_read(struct serve *serve, perch_err *err)
{
	_cleanup_(tokens_free) struct tokens tokens = { 0 };
	_cleanup_free_ char *path = NULL;
	int r = tokens_path(&path, err);
	if (r < 0)
		return r;
	if (stat(path, &serve->tokens_stamp) < 0)
		serve->tokens_stamp = (struct stat){ 0 };
	r = tokens_read(&tokens, err);
	if (r == 0 && identities_update(&serve->identities, &tokens) < 0)
		return err_no_memory(err);
	if (tokens_named(&tokens, TOKEN_LOCAL_USER))
		serve_warn(serve,
			"the token '" TOKEN_LOCAL_USER "' has the name of the page's own user and is "
			"not valid: perch token revoke " TOKEN_LOCAL_USER);
	identities_expire(&serve->identities, (int64_t)time(NULL));
	return r;
}

/* By its status alone: a writer replaces the file. */
void serve_tokens_look(struct serve *serve)
{
	_cleanup_free_ char *path = NULL;
	struct stat now = { 0 };
	perch_err err = { 0 };
	if (tokens_path(&path, NULL) < 0)
		return;
	if (stat(path, &now) < 0)
		now = (struct stat){ 0 };
	identities_expire(&serve->identities, (int64_t)time(NULL));
	if (stamp_is_unchanged(&now, &serve->tokens_stamp))
		return;
	if (serve_tokens_read(serve, &err) < 0)
		serve_warn(serve, "%s", err.text);
}

/* The user of the link; and, where there is no token at all, of one that lives as long as we do. */
int serve_tokens_make_local(struct serve *serve, perch_err *err)
{
	char hash[SHA256_HEX_SIZE] = "";
	struct token token = {
		.name = TOKEN_LOCAL_USER, .hash = hash, .is_admin = true, .created = (int64_t)time(NULL)
	};
	if (!serve->identities.list.count) {
		int r = token_make(serve->own_token);
		if (r < 0)
			return err_set(err, r, "no token can be made: %s", perch_strerror(r));
		token_hash(str_from(serve->own_token), hash);
	}
	serve->local = identity_add(&serve->identities, &token, true);
	return serve->local ? 0 : err_no_memory(err);
}

const char *serve_own_token(const struct serve *serve)
{
	return serve->own_token[0] ? serve->own_token : NULL;
}

int serve_make_once(struct serve *serve, const char **ret_secret)
{
	int r = cookies_make_once(&serve->cookies, serve->once);
	*ret_secret = serve->once;
	return r;
}
