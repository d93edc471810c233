/* Updating an installed plugin. */
#include "plugins/update.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/macros.h"
#include "plugins/fetch.h"

static int PERCH_PRINTF(2, 3) update_skip(struct update_plan *plan, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(plan->reason, sizeof(plan->reason), format, args);
	va_end(args);
	return 0;
}

static bool update_is_commit(const char *ref)
{
	size_t len = strlen(ref);
	return len >= 7 && strspn(ref, "0123456789abcdefABCDEF") == len;
}

static bool update_is_path(const char *source)
{
	return source[0] == '/' || source[0] == '.' || source[0] == '~';
}

/* The ref that a pinned plugin moves to: its own, or a newer tag. "" = it stays. */
static int update_choose_ref(struct workshop *workshop, const struct registry_entry *entry,
	bool to_latest, struct update_plan *plan, const char **ret_ref, perch_err *err)
{
	const struct plugin_source source = { .location = entry->source, .ref = entry->pinned_ref };
	*ret_ref = entry->pinned_ref;
	if (!version_is(entry->pinned_ref))
		return 0;
	int r = fetch_newer_tag(workshop, &source, &plan->candidate.arena, &plan->latest_tag, err);
	if (r < 0)
		return r;
	*ret_ref = plan->latest_tag && to_latest ? plan->latest_tag : "";
	if (*ret_ref[0])
		return 0;
	if (plan->latest_tag)
		return update_skip(plan, "pinned to %s; %s is newer: use --latest to move to it",
			entry->pinned_ref, plan->latest_tag);
	return update_skip(plan, "pinned to %s, and no newer tag is there", entry->pinned_ref);
}

static int update_fetch(struct workshop *workshop, const struct registry_entry *entry,
	const char *ref, struct update_plan *plan, perch_err *err)
{
	const struct install_options options = {
		.source = entry->source,
		.updates = entry,
		.ref = ref,
	};
	struct arena kept = plan->candidate.arena; /* the tag lives in it */
	int r = candidate_open(workshop, &options, kept, &plan->candidate, err);
	if (r < 0)
		return r;
	if (entry->commit[0] && strcmp(entry->commit, plan->candidate.commit) == 0 &&
		strcmp(entry->pinned_ref, ref) == 0)
		return update_skip(plan, "up to date");
	plan->is_due = true;
	return 0;
}

/* A plugin that another program installed has no record: its grants are all that is known. */
static int update_compare(
	const struct registry_entry *entry, struct update_plan *plan, perch_err *err)
{
	struct candidate *candidate = &plan->candidate;
	struct grant_approval approval = candidate->grant.approval;
	const char *wishes[WISHES_MAX + 1];
	if (!candidate->grant.has_approval) {
		if (approval_of(&candidate->manifest, &candidate->arena, &approval) < 0)
			return err_no_memory(err);
		wishes_words(&entry->granted, wishes);
		approval.wishes = wishes;
		approval.manifest = "";
	}
	approval_excess(&approval, &candidate->manifest, plan->excess);
	return 0;
}

int update_open(struct workshop *workshop, const struct registry_entry *entry,
	const struct update_wish *wish, struct update_plan *plan, perch_err *err)
{
	const char *ref = wish->ref ? wish->ref : "";
	*plan = (struct update_plan){ .candidate.stage.lock = -1 };
	if (!entry->source[0])
		return update_skip(plan, "the registry does not say where it came from");
	if (update_is_path(entry->source) && !entry->pinned_ref[0] && !ref[0])
		return update_skip(plan, "installed from the local directory %s", entry->source);
	if (!ref[0] && update_is_commit(entry->pinned_ref) && !version_is(entry->pinned_ref))
		return update_skip(plan, "pinned to the commit %s; perch plugins unpin %s lets it follow",
			entry->pinned_ref, entry->name);
	if (!ref[0] && entry->pinned_ref[0]) {
		int r = update_choose_ref(workshop, entry, wish->to_latest, plan, &ref, err);
		if (r < 0 || !ref[0])
			return r;
	}
	int r = update_fetch(workshop, entry, ref, plan, err);
	return r < 0 || !plan->is_due ? r : update_compare(entry, plan, err);
}

void update_free(struct update_plan *plan)
{
	candidate_free(&plan->candidate);
}

struct capabilities update_granted(const struct registry_entry *entry,
	const struct grant_approval *approval, const struct manifest *manifest, bool takes_wishes)
{
	const struct capabilities *wishes = &manifest->wishes;
	struct capabilities granted = entry->granted;
	/* Capabilities that were refused before stay refused. */
	for (const struct capability *one = capability_table; one->name; one++) {
		bool is_wished = capabilities_have(wishes, one);
		bool is_new = is_wished && !list_has(approval->wishes, one->name);
		bool had_it = capabilities_have(&granted, one);
		capabilities_put(&granted, one, (had_it && is_wished) || (takes_wishes && is_new));
	}
	granted.plugins = takes_wishes && wishes->plugins && !list_has(approval->wishes, WISH_PLUGINS);
	granted.filesystem = wishes->filesystem;
	return granted;
}
