/* The first words with a Redis: whether it will do, and our functions. Each step is a row: what is
 * said, and what the answer means. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "queue/redis_link_parts.h"
#include "queue/redis_library.h"

enum { REDIS_GREET_WORDS = 6, REDIS_OLDEST = 7 };

struct redis_step {
	bool is_for_ears; /* said on every connection */
	/* What to say: how many words; 0 = nothing, this step is not needed. */
	size_t (*say)(struct redis_link *link, struct str words[REDIS_GREET_WORDS], char *scratch);
	/* The next step, or a negative number: the link has failed. */
	int (*take)(struct redis_link *link, const redisReply *reply);
};

enum redis_steps {
	REDIS_STEP_AUTH,
	REDIS_STEP_SELECT,
	REDIS_STEP_SERVER,
	REDIS_STEP_MEMORY,
	REDIS_STEP_OPEN,
	REDIS_STEP_LOAD,
	REDIS_STEP_SCRIPT,
	REDIS_STEP_SPARE_SCRIPT,
	REDIS_STEP_OPEN_SCRIPT,
	REDIS_STEPS,
};

enum { REDIS_GREET_SCRATCH = 256 };

static bool redis_greet_is(const redisReply *reply, const char *prefix)
{
	return reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, prefix, strlen(prefix)) == 0;
}

static const char *redis_greet_words(const redisReply *reply)
{
	return reply->type == REDIS_REPLY_ERROR ? reply->str : "an answer that was not expected";
}

bool redis_greet_is_passing(const char *error)
{
	static const char *const passing[] = { "LOADING", "READONLY", "NOSCRIPT", "MASTERDOWN", "BUSY ",
		"TRYAGAIN", "CLUSTERDOWN", "NOREPLICAS", "MISCONF", "UNKILLABLE", "NOAUTH",
		"ERR Function not found", "ERR max number of clients" };
	for (size_t i = 0; i < COUNT(passing); i++) {
		if (strncmp(error, passing[i], strlen(passing[i])) == 0)
			return true;
	}
	return false;
}

/* While nothing was asked of the queue yet, a full memory is only a reason to come again. */
static bool redis_greet_is_for_later(const redisReply *reply)
{
	return reply->type == REDIS_REPLY_ERROR &&
		(redis_greet_is_passing(reply->str) || redis_greet_is(reply, "OOM "));
}

bool redis_greet_is_refusal(const char *error)
{
	static const char *const refusals[] = { "MOVED ", "NOPERM" };
	for (size_t i = 0; i < COUNT(refusals); i++) {
		if (strncmp(error, refusals[i], strlen(refusals[i])) == 0)
			return true;
	}
	return false;
}

/* ---- who we are ---------------------------------------------------------------------- */

static size_t redis_greet_say_auth(struct redis_link *link, struct str *words, char *scratch)
{
	const char *user = link->options.url->user;
	const char *password = link->options.password;
	(void)scratch;
	if (!user[0] && (!password || !password[0]))
		return 0;
	words[0] = STR("AUTH");
	words[1] = str_from(user[0] ? user : password);
	words[2] = str_from(password ? password : ""); /* a user may have none */
	return user[0] ? 3 : 2;
}

static int redis_greet_take_auth(struct redis_link *link, const redisReply *reply)
{
	if (reply->type != REDIS_REPLY_ERROR)
		return REDIS_STEP_SELECT;
	if (redis_greet_is_passing(reply->str))
		redis_link_fail(link, false, "%.200s", reply->str);
	else
		redis_link_fail(link, true, "it does not take the password%s%s: %.200s",
			link->options.url->user[0] ? " of the user " : "", link->options.url->user, reply->str);
	return -1;
}

static size_t redis_greet_say_select(struct redis_link *link, struct str *words, char *scratch)
{
	snprintf(scratch, REDIS_GREET_SCRATCH, "%u", link->options.url->database);
	words[0] = STR("SELECT");
	words[1] = str_from(scratch);
	return 2;
}

static int redis_greet_take_select(struct redis_link *link, const redisReply *reply)
{
	if (reply->type != REDIS_REPLY_ERROR)
		return REDIS_STEP_SERVER;
	if (redis_greet_is(reply, "NOAUTH"))
		redis_link_fail(link, true,
			"it asks for a password: give it by --password-file or PERCH_QUEUE_PASSWORD");
	else
		redis_link_fail(link, !redis_greet_is_passing(reply->str), "%.200s", reply->str);
	return -1;
}

/* ---- what it is ------------------------------------------------------------------------ */

static size_t redis_greet_say_server(struct redis_link *link, struct str *words, char *scratch)
{
	(void)link;
	(void)scratch;
	words[0] = STR("INFO");
	words[1] = STR("server");
	return 2;
}

/* The value of a line NAME:VALUE of INFO; without data where there is none. */
static struct str redis_greet_value(const redisReply *reply, const char *name)
{
	const char *line = reply->type == REDIS_REPLY_STRING ? strstr(reply->str, name) : NULL;
	if (!line)
		return (struct str){ 0 };
	line += strlen(name);
	return (struct str){ line, strcspn(line, "\r\n") };
}

static int redis_greet_check(struct redis_link *link, const redisReply *reply)
{
	if (reply->type == REDIS_REPLY_STRING)
		return 0;
	redis_link_fail(link, reply->type != REDIS_REPLY_ERROR || !redis_greet_is_passing(reply->str),
		"INFO: %.200s", redis_greet_words(reply));
	return -1;
}

static int redis_greet_take_server(struct redis_link *link, const redisReply *reply)
{
	if (redis_greet_check(link, reply) < 0)
		return -1;
	struct str version = redis_greet_value(reply, "redis_version:");
	struct str mode = redis_greet_value(reply, "redis_mode:");
	if (!mode.data)
		mode = redis_greet_value(reply, "server_mode:"); /* Valkey */
	if (!version.data || strtol(version.data, NULL, 10) < REDIS_OLDEST)
		redis_link_fail(link, true, "perch needs Redis %d or later, or Valkey; it is %.*s",
			REDIS_OLDEST, (int)version.len, version.data ? version.data : "");
	else if (str_is(mode, "cluster"))
		redis_link_fail(link, true, "it is a cluster, which perch does not speak to");
	else
		return REDIS_STEP_MEMORY;
	return -1;
}

static size_t redis_greet_say_memory(struct redis_link *link, struct str *words, char *scratch)
{
	size_t count = redis_greet_say_server(link, words, scratch);
	words[1] = STR("memory");
	return count;
}

static int redis_greet_take_memory(struct redis_link *link, const redisReply *reply)
{
	if (redis_greet_check(link, reply) < 0)
		return -1;
	struct str policy = redis_greet_value(reply, "maxmemory_policy:");
	if (str_is(policy, "noeviction"))
		return link->uses_scripts ? REDIS_STEP_SCRIPT : REDIS_STEP_OPEN;
	redis_link_fail(link, true,
		"it evicts keys when its memory is full (maxmemory-policy %.*s): jobs would be lost; set "
		"noeviction",
		(int)policy.len, policy.data ? policy.data : "");
	return -1;
}

/* ---- our functions ------------------------------------------------------------------------ */

static size_t redis_greet_say_open(struct redis_link *link, struct str *words, char *scratch)
{
	snprintf(scratch, REDIS_GREET_SCRATCH, "%u", link->options.shards);
	words[0] = STR("FCALL");
	words[1] = STR(REDIS_LIBRARY "_open");
	words[2] = STR("1");
	words[3] = str_from(link->options.shard);
	words[4] = str_from(scratch);
	return 5;
}

/* 0 where the keys are as many shards' as we were told, and our own. */
static int redis_greet_check_keys(struct redis_link *link, const redisReply *reply)
{
	const char *word = redis_greet_is(reply, "ERR ") ? reply->str + strlen("ERR ") : NULL;
	word = word || reply->type != REDIS_REPLY_ERROR ? word : reply->str;
	if (word && strncmp(word, "SHARDS ", strlen("SHARDS ")) == 0) {
		const char *found = word + strlen("SHARDS ");
		redis_link_fail(link, true,
			"it has --shards %.10s, and was opened with --shards %u: gateways and workers are "
			"given "
			"the same number, which stays as it was at first",
			found, link->options.shards);
		return -1;
	}
	if (!word ||
		(strncmp(word, "LAYOUT", strlen("LAYOUT")) != 0 && !redis_greet_is(reply, "WRONGTYPE")))
		return 0;
	redis_link_fail(link, true,
		"its keys %s:… are of another program or another version of perch (%.80s); use another "
		"database, or remove them",
		link->options.shard, reply->str);
	return -1;
}

/* Functions that this user, or this Redis, does not have: scripts can do the same. */
static bool redis_greet_is_not_to_be_had(const redisReply *reply)
{
	return redis_greet_is(reply, "NOPERM") || redis_greet_is(reply, "ERR unknown command");
}

static int redis_greet_take_open(struct redis_link *link, const redisReply *reply)
{
	bool may_load = !link->has_loaded;
	if (redis_greet_is(reply, "ERR Function not found") && may_load)
		return REDIS_STEP_LOAD;
	if (redis_greet_is_not_to_be_had(reply) && !link->uses_scripts)
		return REDIS_STEP_SCRIPT;
	if (redis_greet_check_keys(link, reply) < 0)
		return -1;
	if (reply->type != REDIS_REPLY_ARRAY || reply->elements < 2 ||
		reply->element[1]->type != REDIS_REPLY_INTEGER) {
		redis_link_fail(link, !redis_greet_is_for_later(reply), "%.200s", redis_greet_words(reply));
		return -1;
	}
	bool is_old = reply->element[1]->integer < redis_library_revision();
	link->shards = reply->elements > 2 ? (unsigned)reply->element[2]->integer : 1;
	return is_old && may_load && !link->uses_scripts ? REDIS_STEP_LOAD : REDIS_STEPS;
}

static size_t redis_greet_say_load(struct redis_link *link, struct str *words, char *scratch)
{
	(void)scratch;
	link->has_loaded = true;
	words[0] = STR("FUNCTION");
	words[1] = STR("LOAD");
	words[2] = STR("REPLACE");
	words[3] = redis_library_functions();
	return 4;
}

static int redis_greet_take_load(struct redis_link *link, const redisReply *reply)
{
	if (redis_greet_is_not_to_be_had(reply))
		return REDIS_STEP_SCRIPT;
	if (reply->type != REDIS_REPLY_ERROR)
		return REDIS_STEP_OPEN;
	redis_link_fail(link, !redis_greet_is_for_later(reply), "FUNCTION LOAD: %.200s", reply->str);
	return -1;
}

static size_t redis_greet_say_script(struct redis_link *link, struct str *words, char *scratch)
{
	(void)link;
	(void)scratch;
	words[0] = STR("SCRIPT");
	words[1] = STR("LOAD");
	words[2] = redis_library_script(false);
	return 3;
}

static size_t redis_greet_say_spare(struct redis_link *link, struct str *words, char *scratch)
{
	size_t count = redis_greet_say_script(link, words, scratch);
	words[2] = redis_library_script(true);
	return count;
}

static int redis_greet_keep_sha(struct redis_link *link, const redisReply *reply, char *sha)
{
	if (reply->type == REDIS_REPLY_STRING && reply->len == REDIS_SHA_SIZE - 1) {
		memcpy(sha, reply->str, REDIS_SHA_SIZE);
		return 0;
	}
	redis_link_fail(link, true, "neither functions nor scripts may be loaded: %.200s",
		redis_greet_words(reply));
	return -1;
}

static int redis_greet_take_script(struct redis_link *link, const redisReply *reply)
{
	return redis_greet_keep_sha(link, reply, link->sha) < 0 ? -1 : REDIS_STEP_SPARE_SCRIPT;
}

static int redis_greet_take_spare(struct redis_link *link, const redisReply *reply)
{
	link->uses_scripts = true;
	return redis_greet_keep_sha(link, reply, link->spare_sha) < 0 ? -1 : REDIS_STEP_OPEN_SCRIPT;
}

static size_t redis_greet_say_open_script(struct redis_link *link, struct str *words, char *scratch)
{
	size_t count = redis_greet_say_open(link, words, scratch);
	words[0] = STR("EVALSHA");
	words[1] = str_from(link->sha);
	words[count] = words[count - 1];
	words[count - 1] = STR("open");
	return count + 1;
}

/* ---- the table ---------------------------------------------------------------------------------
 */

static const struct redis_step redis_steps[] = {
	[REDIS_STEP_AUTH] = { true, redis_greet_say_auth, redis_greet_take_auth },
	[REDIS_STEP_SELECT] = { true, redis_greet_say_select, redis_greet_take_select },
	[REDIS_STEP_SERVER] = { false, redis_greet_say_server, redis_greet_take_server },
	[REDIS_STEP_MEMORY] = { false, redis_greet_say_memory, redis_greet_take_memory },
	[REDIS_STEP_OPEN] = { false, redis_greet_say_open, redis_greet_take_open },
	[REDIS_STEP_LOAD] = { false, redis_greet_say_load, redis_greet_take_load },
	[REDIS_STEP_SCRIPT] = { false, redis_greet_say_script, redis_greet_take_script },
	[REDIS_STEP_SPARE_SCRIPT] = { false, redis_greet_say_spare, redis_greet_take_spare },
	[REDIS_STEP_OPEN_SCRIPT] = { false, redis_greet_say_open_script, redis_greet_take_open },
};
_Static_assert(COUNT(redis_steps) == REDIS_STEPS, "every step has its row");

static void redis_greet_step(struct redis_link *link, unsigned step);

static void redis_greet_answered(redisAsyncContext *context, void *found, void *data)
{
	struct redis_link *link = data;
	if (!found || link->context != context)
		return;
	int next = redis_steps[link->step].take(link, found);
	if (next >= 0)
		redis_greet_step(link, (unsigned)next);
}

static void redis_greet_step(struct redis_link *link, unsigned step)
{
	struct str words[REDIS_GREET_WORDS];
	char scratch[REDIS_GREET_SCRATCH];
	const char *texts[REDIS_GREET_WORDS];
	size_t lengths[REDIS_GREET_WORDS];
	size_t count = 0;
	for (; step < REDIS_STEPS && !count; step += count == 0) {
		if (!link->options.is_ear || redis_steps[step].is_for_ears)
			count = redis_steps[step].say(link, words, scratch);
		else
			step = REDIS_STEPS;
	}
	if (!count) {
		redis_link_become_ready(link);
		return;
	}
	link->step = step;
	for (size_t i = 0; i < count; i++) {
		texts[i] = words[i].data;
		lengths[i] = words[i].len;
	}
	redisAsyncCommandArgv(link->context, redis_greet_answered, link, (int)count, texts, lengths);
}

void redis_greet(struct redis_link *link)
{
	link->has_loaded = false;
	redis_greet_step(link, REDIS_STEP_AUTH);
}

size_t redis_greet_prefix(const struct redis_link *link, const char *function,
	struct str ret_words[REDIS_PREFIX], char *name)
{
	ret_words[2] = STR("1");
	ret_words[3] = str_from(link->options.shard);
	if (link->uses_scripts) {
		ret_words[0] = STR("EVALSHA");
		ret_words[1] = str_from(redis_library_is_spare(function) ? link->spare_sha : link->sha);
		ret_words[4] = str_from(function);
		return 5;
	}
	snprintf(name, REDIS_NAME_SIZE, REDIS_LIBRARY "_%s", function);
	ret_words[0] = STR("FCALL");
	ret_words[1] = str_from(name);
	return 4;
}
