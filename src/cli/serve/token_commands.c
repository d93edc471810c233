/* perch token: create, list, revoke. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/duration.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "cli/cli.h"
#include "data/json.h"
#include "serve/serve_settings.h"
#include "serve/tokens.h"

/* ---- create ------------------------------------------------------------------------- */

struct token_words {
	const char *allow;
	const char *role;
	const char *expires;
	const char *config;
};

/* Cuts "a,b" into a list that ends with NULL; lives in the arena. */
static int token_patterns(const char *text, struct arena *arena, const char *const **ret_list)
{
	size_t count = 2;
	for (const char *c = text; *c; c++)
		count += *c == ',';
	const char **list = arena_alloc(arena, count * sizeof(*list));
	struct str rest = str_from(text);
	size_t n = 0;
	while (list && rest.len) {
		list[n] = arena_dup(arena, str_trim(str_cut(&rest, ',')));
		if (!list[n])
			return cli_no_memory();
		if (!token_is_pattern(list[n]))
			return cli_usage_error("write: --allow agent:bot,tool:acme,plugin:deploy",
				"--allow takes agent:, tool: or plugin: and a name, not '%s'", list[n]);
		n++;
	}
	if (!list)
		return cli_no_memory();
	list[n] = NULL;
	*ret_list = list;
	return 0;
}

static int token_read(const struct token_words *words, struct arena *arena, struct token *token)
{
	int64_t seconds = 0;
	if (!token_is_name(token->name))
		return cli_usage_error(
			NULL, "a token's name has letters, digits and - _ . @ alone, not '%s'", token->name);
	if (words->role && strcmp(words->role, "user") != 0 && strcmp(words->role, "admin") != 0)
		return cli_usage_error(NULL, "--role is user or admin, not '%s'", words->role);
	if (words->expires && (!duration_parse(words->expires, &seconds) || !seconds))
		return cli_usage_error(
			NULL, "--expires takes a time like 12h or 30d, not '%s'", words->expires);
	token->is_admin = words->role && strcmp(words->role, "admin") == 0;
	token->created = (int64_t)time(NULL);
	token->expires = seconds ? token->created + seconds : 0;
	return words->allow ? token_patterns(words->allow, arena, &token->allows) : 0;
}

static int token_save(struct token *token)
{
	char text[TOKEN_SIZE];
	char hash[SHA256_HEX_SIZE];
	perch_err err = { 0 };
	if (token_make(text) < 0) {
		cli_error(NULL, "there are no random numbers");
		return EXIT_HOST;
	}
	token_hash(str_from(text), hash);
	token->hash = hash;
	if (tokens_add(token, &err) < 0) {
		cli_error(NULL, "%s", err.text);
		return EXIT_HOST;
	}
	cli_tell(stderr, "token %s: it is shown once\n", token->name);
	return printf("%s\n", text) < 0 ? EXIT_HOST : 0;
}

/* Takes the one word that the verb needs. */
static int token_word(const struct option_spec *specs, int argc, char **argv, const char **ret_word)
{
	struct option_list found = { 0 };
	int r = options_parse_words(specs, argc, argv, &found);
	if (r == 0 && found.count != 1)
		r = cli_usage_error(NULL, "%s takes the name of a token", argv[0]);
	*ret_word = r == 0 ? found.items[0] : NULL;
	free(found.items);
	return r;
}

static int token_create(struct cli *cli, int argc, char **argv)
{
	(void)cli;
	struct token_words words = { 0 };
	const struct option_spec specs[] = {
		{ "allow", 0, OPTION_TEXT, &words.allow },
		{ "role", 0, OPTION_TEXT, &words.role },
		{ "expires", 0, OPTION_TEXT, &words.expires },
		{ 0 },
	};
	_cleanup_(arena_free) struct arena arena = { 0 };
	struct token token = { 0 };
	int r = token_word(specs, argc, argv, &token.name);
	if (r == 0)
		r = token_read(&words, &arena, &token);
	return r ? r : token_save(&token);
}

/* ---- list --------------------------------------------------------------------------- */

static void token_write_json(struct buf *out, const struct tokens *tokens)
{
	perch_json_writer json = json_writer_on(out);
	json.style = PERCH_JSON_PRETTY;
	perch_json_begin_array(&json);
	for (size_t i = 0; i < tokens->count; i++) {
		const struct token *token = &tokens->items[i];
		perch_json_begin_object(&json);
		json_write_text(&json, "name", str_from(token->name));
		json_write_text(&json, "role", token->is_admin ? STR("admin") : STR("user"));
		perch_json_write_name(&json, "created");
		perch_json_write_int64(&json, token->created);
		if (token->expires) {
			perch_json_write_name(&json, "expires");
			perch_json_write_int64(&json, token->expires);
		}
		if (token->allows) {
			perch_json_write_name(&json, "allow");
			perch_json_begin_array(&json);
			for (const char *const *item = token->allows; *item; item++)
				perch_json_write_string(&json, *item);
			perch_json_end_array(&json);
		}
		perch_json_end_object(&json);
	}
	perch_json_end_array(&json);
	buf_append_char(out, '\n');
}

static void token_write_line(struct buf *out, const struct token *token)
{
	int64_t left = token->expires - (int64_t)time(NULL);
	buf_printf(out, "%-20s %-6s", token->name, token->is_admin ? "admin" : "user");
	for (const char *const *item = token->allows; item && *item; item++)
		buf_printf(out, "%s%s", item == token->allows ? " " : ",", *item);
	if (token->expires && left <= 0)
		buf_append_text(out, "  has expired");
	else if (token->expires)
		buf_printf(out, "  for %lld more %s", (long long)(left >= 86400 ? left / 86400 : left / 60),
			left >= 86400 ? "days" : "minutes");
	buf_append_char(out, '\n');
}

static int token_list(struct cli *cli, int argc, char **argv)
{
	const struct option_spec specs[] = { { "json", 0, OPTION_FLAG, &cli->json }, { 0 } };
	_cleanup_(tokens_free) struct tokens tokens = { 0 };
	struct buf out = { 0 };
	perch_err err = { 0 };
	int at = 1;
	int r = options_parse(specs, argc, argv, &at);
	if (r == 0 && at < argc)
		r = cli_usage_error(NULL, "list takes no word: '%s'", argv[at]);
	if (r)
		return r;
	if (tokens_read(&tokens, &err) < 0) {
		cli_error(NULL, "%s", err.text);
		return EXIT_HOST;
	}
	if (cli->json)
		token_write_json(&out, &tokens);
	for (size_t i = 0; !cli->json && i < tokens.count; i++)
		token_write_line(&out, &tokens.items[i]);
	if (!cli->json && !tokens.count)
		cli_tell(stderr, "There are no tokens: perch token create NAME makes one\n");
	return cli->json ? cli_print_json(&out) : cli_print(&out);
}

/* ---- revoke ------------------------------------------------------------------------- */

static int token_revoke(struct cli *cli, int argc, char **argv)
{
	(void)cli;
	const struct option_spec specs[] = { { 0 } };
	const char *name = NULL;
	perch_err err = { 0 };
	int r = token_word(specs, argc, argv, &name);
	if (r)
		return r;
	if (tokens_remove(name, &err) < 0) {
		cli_error("perch token list shows them", "%s", err.text);
		return EXIT_HOST;
	}
	cli_tell(stderr, "token %s is revoked\n", name);
	return 0;
}

/* -------------------------------------------------------------------------------------- */

static const struct command token_verb_create = {
	.name = "create",
	.summary = "make a token and print it, once",
	.help = "usage: perch token create NAME [--allow LIST] [--role user|admin]\n"
			"                          [--expires TIME]\n"
			"\n"
			"Makes a token for perch serve and prints it alone on stdout. Only its hash is\n"
			"kept. A client that has it sees the jobs and sessions of NAME.\n"
			"\n"
			"  --allow LIST    agent:NAME, tool:BINDING or tool:BINDING/TOOL, plugin:COMMAND,\n"
			"                  with commas; * stands for anything. Without it: all that is\n"
			"                  exposed\n"
			"  --role ROLE     user (the default), or admin: sees and approves all\n"
			"  --expires TIME  30d, 12h, 15m\n"
			"\n"
			"example:\n"
			"  perch token create phone --allow agent:bot --expires 30d\n",
	.run = token_create,
};

static const struct command token_verb_list = {
	.name = "list",
	.summary = "show the tokens, without their secrets",
	.help = "usage: perch token list [--json]\n"
			"\n"
			"Lists the tokens: name, role, when they expire, what they are allowed.\n"
			"\n"
			"example:\n"
			"  perch token list\n",
	.run = token_list,
};

static const struct command token_verb_revoke = {
	.name = "revoke",
	.summary = "take a token back; its streams end within a second",
	.help = "usage: perch token revoke NAME\n"
			"\n"
			"Takes a token back. Its streams and cookies end within a second.\n"
			"\n"
			"example:\n"
			"  perch token revoke phone\n",
	.run = token_revoke,
};

static const struct command *const token_verbs[] = {
	&token_verb_create,
	&token_verb_list,
	&token_verb_revoke,
	NULL,
};

const struct command command_token = {
	.name = "token",
	.summary = "tokens for perch serve",
	.group = GROUP_TOOLS,
	.help = "usage: perch token WORD …\n"
			"\n"
			"Each token is a user of perch serve. Hashes of them are kept in\n"
			"~/.local/state/perch/tokens.json.\n"
			"\n",
	.example = "perch token create phone --allow agent:bot --expires 30d",
	.subcommands = token_verbs,
};
