/* perch plugins allow and revoke. */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "cli/ui/allow.h"
#include "cli/ui/page.h"
#include "cli/plugins/plugins_commands.h"
#include "cli/plugins/plugins_grant.h"
#include "plugins/find.h"
#include "plugins/update.h"
#include "registry/approval.h"
#include "registry/write.h"

static int plugins_allow_describe(const struct manifest *manifest,
	const struct capabilities *granted, struct arena *arena, const char **ret_words, perch_err *err)
{
	const char *words[WISHES_MAX + 1];
	struct buf list = { 0 };
	struct buf text = { 0 };
	wishes_words(granted, words);
	buf_printf(&text, "%s; granted: %s",
		manifest->protocol[0] ? manifest->protocol : "no protocol, runs with all your rights",
		page_join(&list, words, "nothing"));
	*ret_words = text.failed ? NULL : arena_dup(arena, (struct str){ text.data, text.len });
	buf_free(&list);
	buf_free(&text);
	return *ret_words ? 0 : err_no_memory(err);
}

/* New wishes are granted; capabilities that were refused before stay refused. */
static int plugins_allow_approve_plugin(const char *name, struct arena *arena, struct grant *grant,
	const char **ret_words, perch_err *err)
{
	struct registry registry;
	struct manifest manifest;
	int r = registry_read(arena, &registry, err);
	if (r < 0)
		return r;
	struct registry_entry entry = *registry_find(&registry, name);
	r = manifest_read(entry.directory, arena, &manifest, err);
	if (r == 0)
		r = manifest_check_protocol(&manifest, err);
	if (r < 0)
		return r;
	entry.granted = update_granted(&entry, &grant->approval, &manifest, true);
	entry.has_capabilities = true;
	entry.version = manifest.version;
	if (approval_of(&manifest, arena, &grant->approval) < 0)
		return err_no_memory(err);
	grant->has_approval = true;
	if (entry.granted.plugins &&
		plugins_grant_callee(GRANT_ANY_PLUGIN, false, arena, grant, err) < 0)
		return err->code;
	r = plugins_allow_describe(&manifest, &entry.granted, arena, ret_words, err);
	return r < 0 ? r : registry_put(&entry, err);
}

static const struct allow_subject plugin = {
	.kind = GRANT_PLUGIN,
	.noun = "plugin",
	.command = "perch plugins",
	.find = plugins_grant_find,
	.approve_option = "manifest",
	.approve = plugins_allow_approve_plugin,
	.grant = plugins_grant_words,
};

static int cli_plugins_allow(struct cli *cli, int argc, char **argv)
{
	return cli_allow(cli, &plugin, argc, argv);
}

static int plugins_allow_cli_plugins_revoke(struct cli *cli, int argc, char **argv)
{
	return cli_revoke(cli, &plugin, argc, argv);
}

#define PLUGINS_ALLOW_HELP                                                          \
	"  --grant LIST    what its plugin.toml asks for: " CAPABILITY_NAMES ",\n"      \
	"                  and plugins: call others that are confined; plugins:NAME:\n" \
	"                  this one, also if it is not\n"                               \
	"  --shell NAME    the shell of its commands: bash (sh)\n"

const struct command plugins_allow = {
	.name = "allow",
	.words = WORDS_PLUGINS,
	.summary = "give a plugin more than its sandbox does, or approve its manifest",
	.help = "usage: perch plugins allow NAME OPTIONS\n"
			"\n" ALLOW_OPTIONS_HELP PLUGINS_ALLOW_HELP
			"  --manifest      approve what its plugin.toml asks for now\n"
			"\n"
			"What is allowed is kept in perch's grants.toml; `perch plugins audit` shows it.\n"
			"\n"
			"example:\n"
			"  perch plugins allow deploy --grant exec --read /srv/data --env GH_TOKEN\n",
	.run = cli_plugins_allow,
};

const struct command plugins_revoke = {
	.name = "revoke",
	.words = WORDS_PLUGINS,
	.summary = "take back what was allowed",
	.help = "usage: perch plugins revoke NAME [OPTIONS]\n"
			"\n"
			"Takes back what the options name; without options, all that was allowed. What\n"
			"was granted at install stays, until --grant names it.\n"
			"\n" ALLOW_OPTIONS_HELP PLUGINS_ALLOW_HELP "\n"
			"example:\n"
			"  perch plugins revoke deploy --env GH_TOKEN\n",
	.run = plugins_allow_cli_plugins_revoke,
};
