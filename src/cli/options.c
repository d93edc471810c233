/* Options of a command, as a table: getopt_long cannot say which name the user may have meant. */
#include "cli/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "base/vec.h"
#include "cli/cli.h"

static const char *options_name_at(const void *data, size_t i)
{
	return ((const struct option_spec *)data)[i].name;
}

static int options_refuse_unknown(
	const struct option_spec *specs, const char *word, struct str name)
{
	char shown[64];
	snprintf(shown, sizeof(shown), "%.*s", (int)name.len, name.data);
	const char *near = word[1] == '-' ? cli_nearest(shown, options_name_at, specs) : NULL;
	static const char *const widening[] = { "net", "no-net", "read", "write", "env", "preset",
		NULL };
	char hint[128];
	if (list_has(widening, shown))
		return cli_usage_error(
			"what is allowed, is allowed for good: perch plugins allow NAME, perch "
			"tool allow NAME, perch agent allow NAME",
			"there is no option '%s' here", word);
	if (command_is_help(word))
		return cli_usage_error("write it directly behind the command", "%s comes too late", word);
	snprintf(hint, sizeof(hint), "did you mean --%s?", near ? near : "");
	return cli_usage_error(near ? hint : NULL, "there is no option '%s'", word);
}

static const struct option_spec *options_find_long(const struct option_spec *specs, struct str name)
{
	for (; specs->name; specs++) {
		if (str_is(name, specs->name))
			return specs;
	}
	return NULL;
}

static const struct option_spec *options_find_letter(const struct option_spec *specs, char letter)
{
	for (; specs->name; specs++) {
		if (specs->letter == letter)
			return specs;
	}
	return NULL;
}

int options_add(struct option_list *list, const char *value)
{
	const char **items = vec_grow(list->items, &list->cap, list->count + 1, sizeof(*items));
	if (!items)
		return cli_no_memory();
	list->items = items;
	list->items[list->count++] = value;
	return 0;
}

bool options_want(const struct option_list *list, const char *word)
{
	for (size_t i = 0; i < list->count; i++) {
		if (strcmp(list->items[i], word) == 0)
			return true;
	}
	return list->count == 0;
}

static bool options_is_net(const char *word)
{
	return strcmp(word, "full") == 0 || strcmp(word, "none") == 0;
}

/* --net, --net full, --net none, --no-net: the same words for every command that has a network to
 * give. */
static int options_set_net(
	const struct option_spec *spec, const char *value, int argc, char **argv, int *at)
{
	const char **target = spec->target;
	bool is_denied = spec->kind == OPTION_NO_NET;
	if (is_denied && value)
		return cli_usage_error(NULL, "--%s takes no value", spec->name);
	if (!is_denied && !value && *at < argc && options_is_net(argv[*at]))
		value = argv[(*at)++];
	if (!value)
		value = is_denied ? "none" : "full";
	if (!options_is_net(value))
		return cli_usage_error(NULL, "--net is full or none, not '%s'", value);
	if (*target && strcmp(*target, value) != 0)
		return cli_usage_error("write one of them", "--net and --no-net contradict each other");
	*target = value;
	return 0;
}

/* Takes the value: behind the '=', or the next word. */
static int options_set(
	const struct option_spec *spec, const char *value, int argc, char **argv, int *at)
{
	const char *word = argv[*at];
	++*at;
	bool needs_value = spec->kind == OPTION_TEXT || spec->kind == OPTION_LIST;
	if (needs_value && !value && *at < argc)
		value = argv[(*at)++];
	if (needs_value && !value)
		return cli_usage_error(NULL, "%s needs a value behind it", word);
	switch (spec->kind) {
	case OPTION_FLAG:
		if (value)
			return cli_usage_error(NULL, "--%s takes no value", spec->name);
		*(bool *)spec->target = true;
		return 0;
	case OPTION_LIST:
		return options_add(spec->target, value);
	case OPTION_NET:
	case OPTION_NO_NET:
		return options_set_net(spec, value, argc, argv, at);
	case OPTION_MAYBE:
	case OPTION_TEXT:
		*(const char **)spec->target = value ? value : "";
		return 0;
	}
	return 0;
}

/* One option: --name, --name=value or a single letter. Letters are not combined. */
static int options_parse_one(const struct option_spec *specs, int argc, char **argv, int *at)
{
	const char *word = argv[*at];
	struct str rest = str_from(word + 2);
	bool is_long = word[1] == '-';
	struct str name = is_long ? str_cut(&rest, '=') : (struct str){ word + 1, strlen(word + 1) };
	const char *value = is_long && word[2 + name.len] == '=' ? word + 3 + name.len : NULL;
	const struct option_spec *spec = NULL;
	if (is_long)
		spec = options_find_long(specs, name);
	else if (name.len == 1)
		spec = options_find_letter(specs, name.data[0]);
	return spec ? options_set(spec, value, argc, argv, at)
				: options_refuse_unknown(specs, word, name);
}

int options_parse(const struct option_spec *specs, int argc, char **argv, int *at)
{
	while (*at < argc && argv[*at][0] == '-' && argv[*at][1]) {
		if (strcmp(argv[*at], "--") == 0) {
			++*at;
			return 0;
		}
		int r = options_parse_one(specs, argc, argv, at);
		if (r)
			return r;
	}
	return 0;
}

int options_parse_words(
	const struct option_spec *specs, int argc, char **argv, struct option_list *words)
{
	int at = 1;
	bool is_word = false;
	while (at < argc) {
		int before = at;
		int r = is_word ? 0 : options_parse(specs, argc, argv, &at);
		if (r)
			return r;
		is_word = is_word || (at > before && strcmp(argv[at - 1], "--") == 0);
		if (at < argc && (r = options_add(words, argv[at++])))
			return r;
	}
	return 0;
}

bool options_amount(const char *text, bool has_unit, uint64_t *ret_amount)
{
	static const char units[] = "KMGT";
	char *end;
	errno = 0;
	unsigned long long amount = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || errno)
		return false;
	/* Half of the range stays free, so that sums of two amounts do not overflow. */
	const char *unit = has_unit && *end ? strchr(units, *end) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	if (end[unit ? 1 : 0] || amount > (UINT64_MAX >> 1 >> shift))
		return false;
	*ret_amount = (uint64_t)amount << shift;
	return true;
}

int options_bytes(const char *option, const char *text, uint64_t *ret_bytes)
{
	*ret_bytes = 0;
	if (!text || (options_amount(text, true, ret_bytes) && *ret_bytes))
		return 0;
	return cli_usage_error("write a number of bytes, with or without a unit: 512M, 4G",
		"%s: '%s' is no amount", option, text);
}

int options_seconds(const char *option, const char *text, uint64_t *ret_ns)
{
	*ret_ns = 0;
	if (!text)
		return 0;
	char *end;
	double seconds = strtod(text, &end); /* the command sets no locale: a '.' is a '.' */
	if (end == text || *end || !(seconds >= 0.001 && seconds <= 86400))
		return cli_usage_error(
			NULL, "%s takes seconds, from 0.001 to 86400, not '%s'", option, text);
	*ret_ns = clock_from_seconds(seconds);
	return 0;
}
