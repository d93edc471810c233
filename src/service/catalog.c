/* The catalogue: gathered anew for every caller that asks. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/macros.h"
#include "base/vec.h"
#include "service/catalog_parts.h"
#include "service/service_parts.h"
#include "service/watch.h"

static const char *const catalog_kinds[] = {
	[PERCH_ENTRY_TOOL] = "tool",
	[PERCH_ENTRY_COMMAND] = "command",
	[PERCH_ENTRY_AGENT] = "agent",
	[PERCH_ENTRY_RESOURCE] = "resource",
	[PERCH_ENTRY_TEMPLATE] = "template",
	[PERCH_ENTRY_PROMPT] = "prompt",
};

/* The list of [expose] that each kind is in. */
static const char *const catalog_lists[] = {
	[PERCH_ENTRY_TOOL] = "tools",
	[PERCH_ENTRY_COMMAND] = "plugins",
	[PERCH_ENTRY_AGENT] = "agents",
	[PERCH_ENTRY_RESOURCE] = "resources",
	[PERCH_ENTRY_TEMPLATE] = "resources",
	[PERCH_ENTRY_PROMPT] = "prompts",
};

const char *perch_entry_kind_name(perch_entry_kind kind)
{
	return catalog_kinds[kind];
}

int catalog_add(perch_catalog *catalog, const struct exposure *exposure, const perch_entry *entry)
{
	if (!exposure_shows(exposure, entry->kind, entry->name)) {
		catalog->hidden[entry->kind]++;
		return 0;
	}
	perch_entry *grown =
		vec_grow(catalog->entries, &catalog->cap, catalog->count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	catalog->entries = grown;
	grown[catalog->count] = *entry;
	grown[catalog->count].is_waived = entry->asks && exposure_approves(exposure, entry->name);
	catalog->count++;
	return 0;
}

int catalog_note(perch_catalog *catalog, const char *format, ...)
{
	char text[PERCH_ERR_TEXT_MAX + 256];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	const char **grown =
		vec_grow(catalog->notes, &catalog->note_cap, catalog->note_count + 2, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	catalog->notes = grown;
	grown[catalog->note_count] = arena_dup(&catalog->arena, str_from(text));
	if (!grown[catalog->note_count])
		return -ENOMEM;
	grown[++catalog->note_count] = NULL;
	return 0;
}

static int catalog_compare(const void *a, const void *b)
{
	const perch_entry *one = a;
	const perch_entry *other = b;
	if (one->kind != other->kind)
		return (one->kind > other->kind) - (one->kind < other->kind);
	return strcmp(one->name, other->name);
}

static int catalog_note_hidden(perch_catalog *catalog, const char *frontend)
{
	int r = 0;
	for (int kind = 0; r == 0 && kind <= PERCH_ENTRY_PROMPT; kind++) {
		size_t count = catalog->hidden[kind];
		if (count)
			r = catalog_note(catalog, "%zu %s%s hidden: `%s` under [expose.%s] shows them", count,
				catalog_kinds[kind], count == 1 ? " is" : "s are", catalog_lists[kind], frontend);
	}
	return r;
}

static int catalog_gather(perch_catalog *catalog, perch_service *service)
{
	const struct exposure *exposure = &service->exposure;
	int r = catalog_add_tools(catalog, exposure, &service->tools);
	if (r == 0)
		r = catalog_add_commands(catalog, exposure);
	if (r == 0)
		r = catalog_add_agents(catalog, exposure, service->options.profiles);
	if (r == 0)
		r = catalog_add_resources(catalog, exposure);
	if (r == 0)
		r = catalog_note_hidden(catalog, service->options.frontend);
	if (r == 0 && catalog->count)
		qsort(catalog->entries, catalog->count, sizeof(*catalog->entries), catalog_compare);
	return r;
}

/* ---- in words ------------------------------------------------------------ */

static const char *const catalog_frontends[] = { "mcp", "http", "acp", "worker" };

/* How many there are, and how many of them this frontend shows. */
static int catalog_count(const char *frontend, size_t *ret_shown, size_t *ret_all, perch_err *err)
{
	perch_catalog catalog = { 0 };
	struct exposure exposure;
	const struct bound_tools none = { 0 };
	int r = exposure_read(frontend, &catalog.arena, &exposure, err);
	bool is_short = r == 0 &&
		(catalog_add_tools(&catalog, &exposure, &none) < 0 ||
			catalog_add_commands(&catalog, &exposure) < 0 ||
			catalog_add_agents(&catalog, &exposure, NULL) < 0);
	*ret_shown = *ret_all = catalog.count;
	for (size_t i = 0; i < COUNT(catalog.hidden); i++)
		*ret_all += catalog.hidden[i];
	free(catalog.entries);
	free(catalog.servers);
	free(catalog.notes);
	arena_free(&catalog.arena);
	return is_short ? err_no_memory(err) : r;
}

int catalog_exposed(char *words, size_t size, perch_err *err)
{
	size_t used = 0;
	size_t all = 0;
	for (size_t i = 0; i < COUNT(catalog_frontends); i++) {
		size_t shown = 0;
		int r = catalog_count(catalog_frontends[i], &shown, &all, err);
		if (r < 0)
			return r;
		int len = snprintf(
			words + used, size - used, "%s%s %zu", i ? ", " : "", catalog_frontends[i], shown);
		used = (size_t)len < size - used ? used + (size_t)len : size - 1;
	}
	snprintf(words + used, size - used, " of %zu", all);
	return all > 0;
}

/* -------------------------------------------------------------------------- */

DEFINE_POINTER_CLEANUP(cleanup_catalog, perch_catalog, perch_catalog_free)

int perch_service_catalog(perch_service *service, perch_catalog **ret_catalog, perch_err *err)
{
	_cleanup_(cleanup_catalog) perch_catalog *catalog = calloc(1, sizeof(*catalog));
	if (!catalog)
		return err_no_memory(err);
	/* Called before anything is read, so that a change during the reading is reported. */
	service_watch_remember(service->watch);
	int r = service_read_exposure(service, err);
	if (r < 0)
		return r;
	if (catalog_gather(catalog, service) < 0)
		return err_no_memory(err);
	*ret_catalog = steal(&catalog);
	return 0;
}

const perch_entry *perch_catalog_entries(const perch_catalog *catalog, size_t *ret_count)
{
	*ret_count = catalog->count;
	return catalog->entries;
}

const perch_entry *perch_catalog_find(
	const perch_catalog *catalog, perch_entry_kind kind, const char *name)
{
	const perch_entry wanted = { .kind = kind, .name = name };
	if (!catalog->count)
		return NULL;
	return bsearch(&wanted, catalog->entries, catalog->count, sizeof(wanted), catalog_compare);
}

const perch_catalog_server *perch_catalog_servers(const perch_catalog *catalog, size_t *ret_count)
{
	*ret_count = catalog->server_count;
	return catalog->servers;
}

const char *const *perch_catalog_notes(const perch_catalog *catalog)
{
	static const char *const none[] = { NULL };
	return catalog->notes ? (const char *const *)catalog->notes : none;
}

void perch_catalog_free(perch_catalog *catalog)
{
	if (!catalog)
		return;
	free(catalog->entries);
	free(catalog->servers);
	free(catalog->notes);
	arena_free(&catalog->arena);
	free(catalog);
}
