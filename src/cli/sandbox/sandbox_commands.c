/* perch sandbox, and perch sandbox check: which layer enforces what on this machine. */
#include "cli/sandbox/sandbox_commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "cli/ui/envelope.h"
#include "cli/ui/page.h"
#include "perch/host.h"
#include "plugins/sandbox_api.h"
#include "sandbox/sandbox.h"

/* ---- check ------------------------------------------------------------------- */

enum { POLICIES = PERCH_SANDBOX_OF_TOOL + 1 };

struct verdict {
	struct sandbox *sandbox;
	struct property properties[PROPERTIES_MAX];
	size_t count;
	bool is_complete;
};

/* Opens a sandbox of that policy and judges it. Every limit is set, so that each is judged. */
static int sandbox_check_examine(
	perch_host *host, perch_sandbox_base base, struct verdict *verdict, perch_err *err)
{
	perch_sandbox_options options = PERCH_SANDBOX_OPTIONS_INIT;
	perch_sandbox own = { 0 };
	options.base = base;
	options.limits = (perch_sandbox_limits){ 1, 1, 1, 1, 1 };
	int r = sandbox_api_policy(&own, &options, err);
	if (r == 0)
		r = sandbox_try(host, &own.policy, &verdict->sandbox, err);
	arena_free(&own.arena);
	if (r < 0)
		return r;
	verdict->count = sandbox_report(verdict->sandbox, verdict->properties);
	verdict->is_complete = true;
	for (size_t i = 0; i < verdict->count; i++) {
		const struct property *property = &verdict->properties[i];
		verdict->is_complete &= property->layer || !property->is_asked;
	}
	return 0;
}

/* Where the description of a property begins. */
enum { WHAT_COLUMN = 30 };

static void sandbox_check_print_property(struct page *page, const struct property *property)
{
	char layer[16];
	snprintf(layer, sizeof(layer), "%-10s", property->layer ? property->layer : "-");
	buf_append_text(&page->out, "  ");
	page_style(page, property->layer ? STYLE_INFO : STYLE_WARN, layer);
	buf_printf(&page->out, " %-16s ", property->name);
	page_wrap(page, str_from(property->what), WHAT_COLUMN);
	_cleanup_free_ char *why = str_join("not enforceable here: ", property->why, NULL);
	if (!property->layer && why) {
		buf_printf(&page->out, "\n%*s", WHAT_COLUMN, "");
		page_wrap(page, str_from(why), WHAT_COLUMN);
	}
	buf_append_char(&page->out, '\n');
}

static int sandbox_check_print_verdict(
	const struct cli *cli, const char *name, const struct verdict *verdict)
{
	struct page page;
	page_begin(&page, cli);
	buf_printf(&page.out, "%s\n  layers: ", name);
	for (const char *const *layer = sandbox_layers(verdict->sandbox); *layer; layer++)
		buf_printf(&page.out, " %s", *layer);
	if (sandbox_no_room(verdict->sandbox))
		buf_printf(&page.out, "\n  no namespaces: %s", sandbox_no_room(verdict->sandbox));
	buf_append_text(&page.out, "\n\n");
	for (size_t i = 0; i < verdict->count; i++) {
		if (verdict->properties[i].is_asked)
			sandbox_check_print_property(&page, &verdict->properties[i]);
	}
	buf_append_char(&page.out, '\n');
	return page_end(&page);
}

static void sandbox_check_write_property(perch_json_writer *writer, const struct property *property)
{
	perch_json_begin_object(writer);
	member_text(writer, "name", property->name);
	member_text(writer, "what", property->what);
	member_bool(writer, "asked", property->is_asked);
	member_text(writer, "layer", property->layer);
	member_text(writer, "why", property->why);
	perch_json_end_object(writer);
}

static void sandbox_check_write_verdict(
	perch_json_writer *writer, const char *name, const struct verdict *verdict)
{
	perch_json_begin_object(writer);
	member_text(writer, "policy", name);
	member_bool(writer, "complete", verdict->is_complete);
	member_list(writer, "layers", sandbox_layers(verdict->sandbox));
	member_text(writer, "no_namespaces", sandbox_no_room(verdict->sandbox));
	member_array(writer, "properties");
	for (size_t i = 0; i < verdict->count; i++)
		sandbox_check_write_property(writer, &verdict->properties[i]);
	perch_json_end_array(writer);
	perch_json_end_object(writer);
}

static int sandbox_check_print_json(const struct verdict verdicts[POLICIES])
{
	struct envelope envelope;
	envelope_begin(&envelope);
	member_array(&envelope.writer, "policies");
	for (size_t i = 0; i < POLICIES; i++)
		sandbox_check_write_verdict(
			&envelope.writer, perch_sandbox_base_name((perch_sandbox_base)i), &verdicts[i]);
	perch_json_end_array(&envelope.writer);
	return envelope_end(&envelope);
}

static int sandbox_check_print_verdicts(
	const struct cli *cli, const struct verdict verdicts[POLICIES])
{
	if (cli->json)
		return sandbox_check_print_json(verdicts);
	int r = 0;
	for (size_t i = 0; i < POLICIES && r == 0; i++)
		r = sandbox_check_print_verdict(
			cli, perch_sandbox_base_name((perch_sandbox_base)i), &verdicts[i]);
	return r;
}

static int sandbox_check_all(struct cli *cli, perch_host *host)
{
	struct verdict verdicts[POLICIES] = { 0 };
	perch_err err = { 0 };
	int r = 0;
	bool is_complete = true;
	for (size_t i = 0; r == 0 && i < POLICIES; i++) {
		r = sandbox_check_examine(host, (perch_sandbox_base)i, &verdicts[i], &err);
		is_complete &= verdicts[i].is_complete;
	}
	if (r < 0) {
		cli_error(NULL, "%s", err.text);
		r = EXIT_HOST;
	} else {
		r = sandbox_check_print_verdicts(cli, verdicts);
		r = r ? r : !is_complete;
	}
	for (size_t i = 0; i < POLICIES; i++)
		sandbox_close(verdicts[i].sandbox);
	return r;
}

static int sandbox_check_run(struct cli *cli, int argc, char **argv)
{
	const struct option_spec options[] = { { "json", 0, OPTION_FLAG, &cli->json }, { 0 } };
	int at = 1;
	int r = options_parse(options, argc, argv, &at);
	if (r)
		return r;
	if (at < argc)
		return cli_usage_error("see: perch help sandbox check", "check takes no '%s'", argv[at]);
	perch_host *host;
	perch_err err = { 0 };
	if (cli_make_host(NULL, NULL, &host, &err) < 0) {
		cli_error(NULL, "%s", err.text);
		return EXIT_HOST;
	}
	r = sandbox_check_all(cli, host);
	perch_host_free(host);
	return r;
}

/* ---- the command -------------------------------------------------------------- */

static const struct command sandbox_check = {
	.name = "check",
	.summary = "which layer enforces what here, and what is not enforced",
	.help = "usage: perch sandbox check [--json]\n"
			"\n"
			"Shows, for plugins and for tools, which layer enforces each property, and what\n"
			"cannot be enforced here; ends with 1 when something cannot.\n"
			"\n"
			"  --json   one object, for programs\n"
			"\n"
			"example:\n"
			"  perch sandbox check\n",
	.run = sandbox_check_run,
};

static const struct command *const subcommands[] = { &sandbox_check, &sandbox_run, NULL };

const struct command command_sandbox = {
	.name = "sandbox",
	.summary = "see what is enforced; run any command confined",
	.group = GROUP_CONFINE,
	.help = "usage: perch sandbox WORD …\n"
			"\n"
			"perch confines the programs that it runs. The same for any command:\n"
			"\n",
	.example = "perch sandbox run --no-net --hide ~/mail -- make test",
	.subcommands = subcommands,
};
