/* Which variables of the environment look like a secret: by their name, or by a
 * value that could be user:password@host. */
#include "sandbox/policy/secret_variables.h"

#include <string.h>
#include <strings.h>

#include "base/environment.h"
#include "base/macros.h"

/* The contract's words, and those of widely used programs that it does not name: MYSQL_PWD,
 * SSHPASS, GPG_PASSPHRASE, GITHUB_PAT, SLACK_WEBHOOK. PWD and OLDPWD have no underscore. */
static const struct str inside[] = { { "secret", 6 }, { "token", 5 }, { "password", 8 },
	{ "passwd", 6 }, { "key", 3 }, { "credential", 10 }, { "auth", 4 }, { "private", 7 },
	{ "session", 7 }, { "cookie", 6 }, { "passphrase", 10 }, { "passcode", 8 }, { "creds", 5 },
	{ "webhook", 7 }, { "connection_string", 17 } };
/* What a caller has given git may be a header with a token. GIT_CONFIG_KEY_0 is kept back as a key:
 * without it, the rest makes every git fail. */
static const struct str in_front[] = { { "ld_", 3 }, { "dyld_", 5 }, { "kubeconfig", 10 },
	{ "git_config_count", 16 }, { "git_config_value_", 17 }, { "git_config_parameters", 21 } };
static const struct str behind[] = { { "_url", 4 }, { "_uri", 4 }, { "_dsn", 4 }, { "_pwd", 4 },
	{ "_pw", 3 }, { "_pass", 5 }, { "sshpass", 7 }, { "_pat", 4 } };
static const struct str whole[] = { { "dsn", 3 }, { "pass", 4 }, { "pat", 3 } };

/* A letter, the same in either case; some others share their number with one. */
static unsigned secret_variables_letter(char letter)
{
	return (unsigned char)letter % 32;
}

static bool secret_variables_stands_at(struct str name, size_t at, struct str word)
{
	return name.len >= at && name.len - at >= word.len &&
		secret_variables_letter(name.data[at]) == secret_variables_letter(word.data[0]) &&
		strncasecmp(name.data + at, word.data, word.len) == 0;
}

/* Every start looks at all letters of its environment's names: where no word begins with two of
 * them, that is all. */
static bool secret_variables_has_word_inside(struct str name)
{
	uint32_t seconds[32] = { 0 }; /* of words that begin with the letter of this number */
	for (size_t i = 0; i < COUNT(inside); i++)
		seconds[secret_variables_letter(inside[i].data[0])] |= UINT32_C(1)
			<< secret_variables_letter(inside[i].data[1]);
	for (size_t at = 0; at + 1 < name.len; at++) {
		uint32_t known = seconds[secret_variables_letter(name.data[at])];
		if (!(known >> secret_variables_letter(name.data[at + 1]) & 1))
			continue;
		for (size_t i = 0; i < COUNT(inside); i++)
			if (secret_variables_stands_at(name, at, inside[i]))
				return true;
	}
	return false;
}

static bool secret_variables_has_word_at_an_end(struct str name)
{
	for (size_t i = 0; i < COUNT(in_front); i++)
		if (secret_variables_stands_at(name, 0, in_front[i]))
			return true;
	for (size_t i = 0; i < COUNT(behind); i++)
		if (name.len >= behind[i].len &&
			secret_variables_stands_at(name, name.len - behind[i].len, behind[i]))
			return true;
	return false;
}

static bool secret_variables_is_a_word(struct str name)
{
	for (size_t i = 0; i < COUNT(whole); i++)
		if (name.len == whole[i].len && secret_variables_stands_at(name, 0, whole[i]))
			return true;
	return false;
}

bool secret_looking(struct str name, struct str value)
{
	return secret_variables_has_word_inside(name) || secret_variables_has_word_at_an_end(name) ||
		secret_variables_is_a_word(name) ||
		(value.len && memchr(value.data, '@', value.len) && memchr(value.data, ':', value.len));
}

bool secret_is_absent(const char *variable)
{
	struct str name = environment_name(variable);
	const char *behind_name = variable + name.len;
	return !secret_looking(name, str_from(*behind_name ? behind_name + 1 : behind_name));
}
