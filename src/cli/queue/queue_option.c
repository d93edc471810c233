/* Which queue is used, with which password and key. */
#include "cli/queue/queue_option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/macros.h"
#include "cli/cli.h"
#include "queue/mac.h"
#include "queue/queue_redis.h"

enum { QUEUE_PASSWORD_MAX = 1024 };

static int queue_option_read_password(const char *path, struct buf *password, perch_err *err)
{
	char *given = getenv("PERCH_QUEUE_PASSWORD");
	int r = 0;
	if (path)
		r = file_read(path, QUEUE_PASSWORD_MAX, password, err);
	else if (given)
		buf_append_text(password, given);
	while (password->len && password->data[password->len - 1] == '\n')
		password->len--;
	if (r == 0 && (buf_terminate(password) < 0))
		r = -ENOMEM;
	if (given) /* ps and /proc have what the process began with */
		explicit_bzero(given, strlen(given));
	unsetenv("PERCH_QUEUE_PASSWORD");
	return r;
}

static int queue_option_read_shards(const char *text, unsigned *ret_shards, perch_err *err)
{
	uint64_t number = 1;
	if (text && (!options_amount(text, false, &number) || !number || number > QUEUE_SHARDS_MAX))
		return err_set(
			err, -EINVAL, "--shards takes a number from 1 to %d, not '%s'", QUEUE_SHARDS_MAX, text);
	*ret_shards = (unsigned)number;
	return 0;
}

int queue_option_read(const struct queue_words *words, struct queue_place *ret_place)
{
	const char *url = words->url ? words->url : getenv("PERCH_QUEUE");
	perch_err err = { 0 };
	*ret_place = (struct queue_place){ 0 };
	int r = queue_option_read_password(words->password_file, &ret_place->password, &err);
	ret_place->is_given = url && url[0];
	if (r == 0 && ret_place->is_given)
		r = redis_url_parse(str_from(url), &ret_place->url, &err);
	if (r == 0 && ret_place->is_given)
		r = queue_option_read_shards(words->shards, &ret_place->shards, &err);
	if (r == 0 && ret_place->is_given && words->key_file)
		r = mac_read_key(words->key_file, &ret_place->key, &err);
	if (r == 0)
		return 0;
	cli_error(NULL, "%s", err.text[0] ? err.text : perch_strerror(r));
	queue_option_free(ret_place);
	return EXIT_USAGE;
}

const char *queue_option_hint(const char *problem)
{
	static const struct {
		const char *words, *hint;
	} hints[] = {
		{ "Connection refused",
			"is redis-server running there? --queue or PERCH_QUEUE says where" },
		{ "No such file",
			"is redis-server running with --unixsocket PATH? --queue or PERCH_QUEUE says which" },
		{ "Permission denied",
			"the socket is another user's: redis-server --unixsocketperm, or his group" },
		{ "WRONGPASS",
			"--password-file or PERCH_QUEUE_PASSWORD has it; redis://USER@HOST names a user" },
		{ "NOPERM", "the user of Redis needs the keys and channels {perch:*" },
	};
	for (size_t i = 0; i < COUNT(hints); i++) {
		if (strstr(problem, hints[i].words))
			return hints[i].hint;
	}
	return NULL;
}

void queue_option_free(struct queue_place *place)
{
	if (place->password.data)
		explicit_bzero(place->password.data, place->password.len);
	if (place->key.data)
		explicit_bzero(place->key.data, place->key.len);
	buf_free(&place->password);
	buf_free(&place->key);
}

const char *queue_option_password(const struct queue_place *place)
{
	return place->password.len ? place->password.data : NULL;
}

const struct buf *queue_option_key(const struct queue_place *place)
{
	return place->key.len ? &place->key : NULL;
}
