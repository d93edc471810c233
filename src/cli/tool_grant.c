/* What a plugin requests, and what is granted of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"
#include "cli/tool_add.h"

static void show_list(const char *title, const char *const *list)
{
	for (size_t i = 0; list && list[i]; i++) {
		fprintf(stderr, "  %-13s", i ? "" : title);
		tool_print_text(stderr, str_from(list[i]));
		fputc('\n', stderr);
	}
}

static void show_text(const char *title, const char *text)
{
	show_list(title, (const char *const[]){ text, NULL });
}

static void show_tools(const struct adding *adding)
{
	for (size_t i = 0; i < adding->binding->tool_count; i++) {
		const struct tool_known *tool = &adding->binding->tools[i];
		const struct bundle_tool *said = tool_source_tool(&adding->source, str_from(tool->name));
		fprintf(stderr, "  %-13s", i ? "" : "tools");
		tool_print_text(stderr, str_from(tool->name));
		fputs(said && said->is_mutating ? "  (says that it changes things)" : "", stderr);
		fputs(tool->description[0] ? "  " : "", stderr);
		tool_print_text(stderr, str_from(tool->description));
		fputc('\n', stderr);
	}
}

static void show_request(const struct adding *adding)
{
	const struct tool_binding *binding = adding->binding;
	fputs("plugin ", stderr);
	tool_print_text(stderr, str_from(binding->name));
	fputc(' ', stderr);
	tool_print_text(stderr, str_from(adding->version));
	fputc('\n', stderr);
	show_text("runs", binding->command);
	show_list("with", binding->args);
	show_list("sets", binding->env);
	show_tools(adding);
	if (adding->requested[0])
		show_list("requests", adding->requested);
	else
		show_text("requests", "no capabilities");
	if (binding->widening.is_off)
		show_text("sandbox", "OFF: it runs with all your rights");
	show_list("reads", binding->widening.read);
	show_list("writes", binding->widening.write);
	show_list("gets", binding->widening.env);
	if (binding->widening.net == WIDENING_NET_FULL)
		show_text("network", "full");
}

static bool is_in(const char *const *list, struct str word)
{
	for (; *list; list++) {
		if (str_is(word, *list))
			return true;
	}
	return false;
}

static const char *requested_name(const void *data, size_t i)
{
	const struct adding *adding = data;
	for (size_t at = 0; at <= i; at++) {
		if (!adding->requested[at])
			return NULL;
	}
	return adding->requested[i];
}

static int refuse_grant(const struct adding *adding, const char *word)
{
	const char *near = cli_nearest(word, requested_name, adding);
	char hint[256];
	snprintf(hint, sizeof(hint), "did you mean: %.200s", near ? near : "");
	return cli_usage_error(near ? hint : "grant what it requests, or some of it",
		"the plugin does not request the capability '%s'", word);
}

/* --grant a,b --grant c: a list that is a part of what is requested. */
static int read_grants(struct adding *adding, perch_err *err)
{
	struct arena *arena = &adding->session->arena;
	const char **granted = NULL;
	size_t count = 0;
	size_t cap = 0;
	int r = 0;
	for (size_t i = 0; i < adding->words->grants.count; i++) {
		struct str rest = str_from(adding->words->grants.items[i]);
		while (rest.len && r == 0) {
			const char *word = arena_dup(arena, str_trim(str_cut(&rest, ',')));
			const char **grown = vec_grow(granted, &cap, count + 2, sizeof(*granted));
			granted = grown ? grown : granted;
			if (!word || !grown)
				r = err_no_memory(err);
			else if (!is_in(adding->requested, str_from(word)))
				r = refuse_grant(adding, word);
			else
				granted[count++] = word;
		}
	}
	const char **kept = arena_alloc(arena, (count + 1) * sizeof(*kept));
	if (kept && count)
		memcpy(kept, granted, count * sizeof(*kept));
	free(granted);
	if (!kept)
		return err_no_memory(err);
	kept[count] = NULL;
	adding->binding->capabilities = kept;
	return r;
}

int add_decide(struct adding *adding, perch_err *err)
{
	const struct add_words *words = adding->words;
	bool is_decided = words->yes || words->grants.count;
	if (!adding->session->cli->quiet && (!is_decided || adding->session->cli->verbose))
		show_request(adding);
	if (words->grants.count)
		return read_grants(adding, err);
	adding->binding->capabilities = adding->requested;
	if (words->yes)
		return 0;
	if (tool_may_ask(adding->session->cli)) {
		if (tool_ask("Bind it, and grant what it requests?"))
			return 0;
		err_set(err, -EACCES, "not bound");
		return add_refuse(adding, err);
	}
	err_set(err, -EACCES,
		"nobody is there to say whether that is allowed: --yes grants what the plugin requests, "
		"--grant A,B a part of it");
	return add_refuse(adding, err);
}
