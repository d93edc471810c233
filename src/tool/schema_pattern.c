/* Patterns of schemas. They come with a plugin and are matched against what a
 * caller sends, so both may be hostile: see data/regex.h for the limits. */
#include <errno.h>

#include "base/err.h"
#include "base/vec.h"
#include "data/regex.h"
#include "tool/schema_parts.h"

struct pattern {
	const perch_json_value *source;
	struct regex *regex;
};

static int schema_pattern_compile(
	struct str pattern, const struct spot *spot, struct regex **ret_regex, perch_err *err)
{
	perch_err why = { 0 };
	int r = regex_compile(pattern, REGEX_SCHEMA, ret_regex, &why);
	if (r == -ENOMEM)
		return err_no_memory(err);
	return r < 0 ? spot_error(err, -EINVAL, spot, "the pattern is %s", why.text) : 0;
}

int pattern_check(struct str pattern, const struct spot *spot, perch_err *err)
{
	_cleanup_(regex_freep) struct regex *regex = NULL;
	return schema_pattern_compile(pattern, spot, &regex, err);
}

void patterns_free(struct patterns *patterns)
{
	for (size_t i = 0; i < patterns->count; i++)
		regex_free(patterns->items[i].regex);
	free(patterns->items);
}

static int schema_pattern_find(struct patterns *patterns, const perch_json_value *pattern,
	const struct spot *spot, struct regex **ret_regex, perch_err *err)
{
	for (size_t i = 0; i < patterns->count; i++) {
		if (patterns->items[i].source == pattern) {
			*ret_regex = patterns->items[i].regex;
			return 0;
		}
	}
	struct pattern *items =
		vec_grow(patterns->items, &patterns->cap, patterns->count + 1, sizeof(*items));
	if (!items)
		return err_no_memory(err);
	patterns->items = items;
	int r = schema_pattern_compile(json_str(pattern), spot, ret_regex, err);
	if (r == 0)
		items[patterns->count++] = (struct pattern){ pattern, *ret_regex };
	return r;
}

int patterns_match(struct patterns *patterns, const perch_json_value *pattern, struct str text,
	struct meter *meter, const struct spot *spot, perch_err *err)
{
	struct regex *regex = NULL;
	int r = schema_pattern_find(patterns, pattern, spot, &regex, err);
	if (r < 0)
		return r;
	r = regex_match(regex, text, meter->end_ns);
	if (r >= 0)
		return r;
	if (r == -ENOMEM)
		return err_no_memory(err);
	return spot_error(err, r, spot,
		r == PERCH_ELIMIT ? "its pattern takes too long to match"
						  : "its pattern cannot be matched");
}
