/* MCP: the names under which clients see what perch hosts. */
#include "wire/mcp_names.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/utf8.h"

static const struct mcp_name_rule {
	const char *prefix; /* NULL = the owner and a '_' */
	bool is_kept;       /* also where prefixes are not wanted */
	const char *noun;
} mcp_name_rules[] = {
	[MCP_OF_BINDING] = { NULL, false, "tool" },
	[MCP_OF_COMMAND] = { "run_", false, "command" },
	[MCP_OF_AGENT] = { "agent_", true, "agent" },
};

static bool mcp_name_has(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
		c == '-';
}

/* Appends what fits; a character, not a byte, becomes one '_'. */
static size_t mcp_name_append(char shown[MCP_NAME_SIZE], size_t len, struct str text)
{
	for (size_t at = 0; at < text.len && len < MCP_NAME_MAX;) {
		uint32_t character;
		bool is_fine = mcp_name_has(text.data[at]);
		shown[len++] = is_fine ? text.data[at] : '_';
		at += is_fine ? 1 : utf8_decode(text.data + at, text.len - at, &character);
	}
	shown[len] = '\0';
	return len;
}

static void mcp_name_make(struct mcp_name *name, bool without_prefix)
{
	const struct mcp_name_rule *rule = &mcp_name_rules[name->origin];
	size_t len = 0;
	if (!without_prefix || rule->is_kept) {
		len =
			mcp_name_append(name->shown, len, rule->prefix ? str_from(rule->prefix) : name->owner);
		if (!rule->prefix)
			len = mcp_name_append(name->shown, len, STR("_"));
	}
	len = mcp_name_append(name->shown, len, name->real);
	if (!len)
		mcp_name_append(name->shown, len, STR("_"));
}

static int mcp_name_order(const void *a, const void *b)
{
	const struct mcp_name *const *first = a, *const *second = b;
	int order = strcmp((*first)->shown, (*second)->shown);
	return order ? order : (*first > *second) - (*first < *second);
}

static int mcp_names_clash(const struct mcp_name *a, const struct mcp_name *b, perch_err *err)
{
	const char *first_bar = a->owner.len ? "/" : "", *second_bar = b->owner.len ? "/" : "";
	return err_set(err, -EEXIST, "the %s %.*s%s%.*s and the %s %.*s%s%.*s are both called %s",
		mcp_name_rules[a->origin].noun, utf8_quoted(a->owner), a->owner.data, first_bar,
		utf8_quoted(a->real), a->real.data, mcp_name_rules[b->origin].noun, utf8_quoted(b->owner),
		b->owner.data, second_bar, utf8_quoted(b->real), b->real.data, a->shown);
}

int mcp_names_make(struct mcp_name *names, size_t count, bool without_prefix, perch_err *err)
{
	if (!count)
		return 0;
	_cleanup_free_ const struct mcp_name **order = calloc(count, sizeof(struct mcp_name *));
	if (!order)
		return err_no_memory(err);
	for (size_t i = 0; i < count; i++) {
		mcp_name_make(&names[i], without_prefix);
		order[i] = &names[i];
	}
	qsort(order, count, sizeof(struct mcp_name *), mcp_name_order);
	for (size_t i = 1; i < count; i++)
		if (strcmp(order[i - 1]->shown, order[i]->shown) == 0)
			return mcp_names_clash(order[i - 1], order[i], err);
	return 0;
}
