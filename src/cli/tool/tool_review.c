/* perch tool review: what an MCP server offers now, beside what was approved, and what of that the
 * operator approves. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "cli/tool/server_view.h"
#include "cli/ui/envelope.h"
#include "tool/server_pin.h"

struct review_words {
	const char *name;
	struct option_list grants;
	bool yes;
};

/* What is to be decided: tools that have changed or are new. */
struct reviewing {
	struct tool_session *session;
	const struct review_words *words;
	struct tool_binding binding;
	struct server_view view;
	const struct tool_known **open; /* as they are offered now */
	size_t count, changed, gone;
	bool has_other_words; /* the instructions, the version or the era differ */
};

/* ---- what is different -------------------------------------------------------- */

static int tool_review_compare(struct reviewing *reviewing, perch_err *err)
{
	struct tool_binding *binding = &reviewing->binding;
	const struct server_view *view = &reviewing->view;
	reviewing->open =
		arena_alloc(&reviewing->session->arena, (view->count + 1) * sizeof(*reviewing->open));
	if (!reviewing->open)
		return err_no_memory(err);
	for (size_t i = 0; i < view->count; i++) {
		const struct tool_known *approved = tool_binding_tool(binding, view->tools[i].name);
		bool is_same = approved && strcmp(approved->pin, view->tools[i].pin) == 0;
		reviewing->changed += approved && !is_same;
		if (!is_same)
			reviewing->open[reviewing->count++] = &view->tools[i];
	}
	for (size_t i = 0; i < binding->tool_count; i++)
		reviewing->gone += !server_view_find(view, binding->tools[i].name);
	const struct tool_server *server = &binding->server;
	reviewing->has_other_words = strcmp(server->instructions, view->instructions) != 0 ||
		strcmp(server->version, view->version) != 0 || server->era != view->era;
	return 0;
}

static void tool_review_show_tool(const struct reviewing *reviewing, const struct tool_known *tool)
{
	const struct tool_known *approved = tool_binding_tool(&reviewing->binding, tool->name);
	_cleanup_(buf_free) struct buf text = { 0 };
	if (!approved) {
		fputs("new tool:\n", stderr);
		server_view_show_tool(tool);
		return;
	}
	fputs("changed tool: ", stderr);
	cli_put_text(stderr, str_from(tool->name));
	fputc('\n', stderr);
	if (server_tool_difference(&text, approved, tool) == 0 && buf_terminate(&text) == 0)
		server_view_show_text(stderr, "  ", text.data);
}

static void tool_review_show(const struct reviewing *reviewing)
{
	const struct tool_binding *binding = &reviewing->binding;
	const struct server_view *view = &reviewing->view;
	_cleanup_(buf_free) struct buf text = { 0 };
	for (size_t i = 0; i < reviewing->count; i++)
		tool_review_show_tool(reviewing, reviewing->open[i]);
	for (size_t i = 0; i < binding->tool_count; i++) {
		if (server_view_find(view, binding->tools[i].name))
			continue;
		fputs("gone: ", stderr);
		cli_put_text(stderr, str_from(binding->tools[i].name));
		fputc('\n', stderr);
	}
	if (server_text_difference(&text, "version", binding->server.version, view->version) == 0 &&
		server_text_difference(
			&text, "instructions", binding->server.instructions, view->instructions) == 0 &&
		buf_terminate(&text) == 0 && text.len)
		server_view_show_text(stderr, "", text.data);
}

/* ---- deciding ------------------------------------------------------------------- */

/* What was approved stays, unless it is replaced or gone; what was chosen comes in. */
static int tool_review_take(struct reviewing *reviewing, const bool *chosen, perch_err *err)
{
	struct tool_binding *binding = &reviewing->binding;
	size_t most = binding->tool_count + reviewing->count, count = 0;
	struct tool_known *kept = arena_alloc(&reviewing->session->arena, (most + 1) * sizeof(*kept));
	if (!kept)
		return err_no_memory(err);
	for (size_t i = 0; i < binding->tool_count; i++) {
		if (server_view_find(&reviewing->view, binding->tools[i].name))
			kept[count++] = binding->tools[i];
	}
	size_t old = count;
	for (size_t i = 0; i < reviewing->count; i++) {
		size_t at = 0;
		if (!chosen[i])
			continue;
		while (at < old && strcmp(kept[at].name, reviewing->open[i]->name) != 0)
			at++;
		bool asks = at < old && kept[at].asks;
		kept[at < old ? at : count++] = *reviewing->open[i];
		kept[at < old ? at : count - 1].asks = asks;
	}
	binding->tools = kept;
	binding->tool_count = count;
	return server_view_keep(&reviewing->view, &reviewing->session->arena, binding, err);
}

static int tool_review_tell(const struct reviewing *reviewing, size_t taken, bool is_written)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	struct perch_json_writer out = json_writer_on(&text);
	if (!reviewing->session->cli->json) {
		if (!is_written)
			puts("nothing has changed since it was approved");
		else
			printf("approved: %zu of %zu changed or new tools, %zu gone\n", taken, reviewing->count,
				reviewing->gone);
		return 0;
	}
	perch_json_begin_object(&out);
	member_bool(&out, "ok", true);
	member_text(&out, "name", reviewing->words->name);
	member_number(&out, "changed", (int64_t)reviewing->changed);
	member_number(&out, "new", (int64_t)(reviewing->count - reviewing->changed));
	member_number(&out, "gone", (int64_t)reviewing->gone);
	member_number(&out, "approved", (int64_t)taken);
	perch_json_end_object(&out);
	buf_append_char(&text, '\n');
	return cli_print_json(&text);
}

static int tool_review_refuse(const struct reviewing *reviewing, const perch_err *err)
{
	perch_tool_code code =
		err->code == -ECANCELED ? PERCH_TOOL_CANCELLED : PERCH_TOOL_INVALID_REQUEST;
	const perch_tool_result result = tool_refusal(code, "binding", NULL, err);
	return tool_tell(reviewing->session, &result);
}

static int tool_review_write(struct reviewing *reviewing, const bool *chosen, perch_err *err)
{
	struct arena *arena = &reviewing->session->arena;
	struct tool_binding written;
	size_t taken = 0;
	for (size_t i = 0; i < reviewing->count; i++)
		taken += chosen[i];
	int r = tool_review_take(reviewing, chosen, err);
	if (r == 0)
		r = tool_binding_write(&reviewing->binding, err);
	if (r == 0)
		r = tool_binding_read(reviewing->binding.path, arena, &written, err);
	if (r == 0)
		r = tool_binding_approve(arena, &written, reviewing->words->name, err);
	return r < 0 ? r : tool_review_tell(reviewing, taken, true);
}

/* No tool is to be decided about, but other words are. */
static int tool_review_agree(const struct reviewing *reviewing, perch_err *err)
{
	if (reviewing->words->yes)
		return 0;
	int r = tool_ask(reviewing->session->cli, "Approve that?", err);
	if (r == -ENOTTY)
		return err_set(err, r, "nobody is there to approve that: --yes does");
	if (r == 0)
		fputs("nothing was changed\n", stderr);
	return r < 0 ? r : r > 0 ? 0 : tool_exit_code(PERCH_TOOL_INVALID_REQUEST);
}

static int tool_review_decide(struct reviewing *reviewing, perch_err *err)
{
	const struct server_choice choice = {
		.yes = reviewing->words->yes,
		.grants = &reviewing->words->grants,
		.question = "Which of these tools do you allow as they are now?",
	};
	bool *chosen = arena_alloc(&reviewing->session->arena, reviewing->count + 1);
	if (!chosen)
		return err_no_memory(err);
	int r = reviewing->count ? server_view_choose(reviewing->session, &choice, reviewing->open,
								   reviewing->count, chosen, err)
							 : tool_review_agree(reviewing, err);
	if (r < 0)
		return r == -ENOMEM ? r : tool_review_refuse(reviewing, err);
	return r ? r : tool_review_write(reviewing, chosen, err);
}

/* The binding as it is written, not with what was allowed beside it: it is written again. */
static int tool_review_find(struct reviewing *reviewing, perch_err *err)
{
	struct arena *arena = &reviewing->session->arena;
	const char *name = reviewing->words->name;
	struct tool_binding allowed;
	int r = tool_binding_find(name, arena, &reviewing->binding, err);
	if (r == 0 && !reviewing->binding.server.is_server)
		r = err_set(err, -EINVAL,
			"%s is a plugin, not an MCP server: nothing of it is approved "
			"but what its binding says",
			name);
	allowed = reviewing->binding;
	if (r == 0)
		r = tool_binding_grant(name, arena, &allowed, err);
	if (r < 0)
		return r == -ENOMEM ? r : tool_review_refuse(reviewing, err);
	return server_view_take(reviewing->session, &allowed, &reviewing->view, err);
}

static int tool_review_body(struct tool_session *session, void *data, perch_err *err)
{
	struct reviewing reviewing = { .session = session, .words = data };
	int r = tool_review_find(&reviewing, err);
	if (r)
		return r;
	r = tool_review_compare(&reviewing, err);
	if (r < 0)
		return r;
	if (!reviewing.count && !reviewing.gone && !reviewing.has_other_words)
		return tool_review_tell(&reviewing, 0, false);
	if (!session->cli->quiet)
		tool_review_show(&reviewing);
	return tool_review_decide(&reviewing, err);
}

static int tool_review_run(struct cli *cli, int argc, char **argv)
{
	struct review_words words = { 0 };
	const struct option_spec specs[] = {
		{ "yes", 'y', OPTION_FLAG, &words.yes },
		{ "grant", 0, OPTION_LIST, &words.grants },
		TOOL_GLOBALS(cli),
	};
	int r = tool_words(specs, argc, argv, "write: perch tool review NAME", 1, 1, &words.name);
	if (r == 0 && words.yes && words.grants.count)
		r = cli_usage_error(NULL, "--yes allows everything, --grant a part: one of them");
	if (r == 0)
		r = tool_in_session(cli, tool_review_body, &words);
	free(words.grants.items);
	return r;
}

const struct command tool_verb_review = {
	.name = "review",
	.summary = "what an MCP server offers now, and what was approved",
	.words = WORDS_TOOLS,
	.help = "usage: perch tool review NAME [--grant TOOL,… | --yes]\n"
			"\n"
			"Starts an MCP server in its sandbox and shows what has changed since its tools\n"
			"were approved: a tool that has changed is refused until you allow it here, a new\n"
			"one is not seen by any client. Nothing is changed without your choice.\n"
			"\n"
			"  --grant A,B   allow these changed or new tools as they are now\n"
			"  -y, --yes     allow all of them\n"
			"\n"
			"example:\n"
			"  perch tool review files\n",
	.run = tool_review_run,
};
