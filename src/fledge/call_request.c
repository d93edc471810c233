/* What a command of a plugin asks for. Every byte may be anything: a process in a sandbox has
 * written it. */
#include "fledge/call_request.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/macros.h"

/* Every NUL ends a word. */
static size_t call_request_count(const char *packet, size_t len)
{
	size_t count = 0;
	for (size_t i = 0; i < len; i++)
		count += packet[i] == '\0';
	return count;
}

static const char **call_request_split(const char *packet, size_t count)
{
	const char **words = calloc(count + 1, sizeof(*words));
	for (size_t i = 0; words && i < count; i++) {
		words[i] = packet;
		packet += strlen(packet) + 1;
	}
	return words;
}

static bool call_request_is_list(const char *const *arguments, size_t count)
{
	static const char *const list[] = { "plugins", "list", "--json" };
	bool is_list = count == COUNT(list);
	for (size_t i = 0; is_list && i < COUNT(list); i++)
		is_list = strcmp(arguments[i], list[i]) == 0;
	return is_list;
}

/* The perch outside knows that a plugin calls it, and asks no questions. */
static bool call_request_is_run(const char *const *arguments, size_t count)
{
	size_t at = count && strcmp(arguments[0], "--json") == 0;
	while (at + 1 < count && strcmp(arguments[at], "--answer") == 0)
		at += 2;
	return at + 1 < count && strcmp(arguments[at], "run") == 0 && arguments[at + 1][0] != '-';
}

int call_request_read(
	const char *packet, size_t len, struct call_request *ret_request, perch_err *err)
{
	size_t count = call_request_count(packet, len);
	if (count > CALL_REQUEST_WORDS_MAX)
		return err_set(
			err, -EINVAL, "a call cannot have more than %d words", CALL_REQUEST_WORDS_MAX);
	bool is_whole = count > 1 && packet[len - 1] == '\0' && packet[0] == '/';
	const char **words = is_whole ? call_request_split(packet, count) : NULL;
	if (is_whole && !words)
		return err_no_memory(err);
	if (!is_whole ||
		(!call_request_is_list(words + 1, count - 1) &&
			!call_request_is_run(words + 1, count - 1))) {
		free(words);
		return err_set(err, -EINVAL, "a plugin may run commands of others, and nothing else");
	}
	*ret_request = (struct call_request){ .directory = words[0], .argv = words };
	words[0] = "";
	return 0;
}

void call_request_free(struct call_request *request)
{
	free(request->argv);
	*request = (struct call_request){ 0 };
}
