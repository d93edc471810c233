/* Patterns of schemas. They come with a plugin and are matched against what a
 * caller sends, so both may be hostile: a match is limited in its steps, its
 * memory and its time. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <errno.h>

#include "base/err.h"
#include "base/vec.h"
#include "tool/schema_parts.h"

enum {
	PATTERN_LENGTH_MAX = 8192,
	MATCH_STEPS_MAX = 1000 * 1000,
	MATCH_MEMORY_MAX_KIB = 16 * 1024,
};

struct pattern {
	const perch_json_value *source;
	pcre2_code *code;
};

DEFINE_POINTER_CLEANUP(code_freep, pcre2_code, pcre2_code_free)
DEFINE_POINTER_CLEANUP(match_data_freep, pcre2_match_data, pcre2_match_data_free)
DEFINE_POINTER_CLEANUP(match_context_freep, pcre2_match_context, pcre2_match_context_free)

/* As near to what schemas mean by a pattern (ECMAScript's) as PCRE2 gets. A
 * callout at every item is where the time is looked at. */
static const uint32_t compile_options = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALT_BSUX |
	PCRE2_MATCH_UNSET_BACKREF | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT;

static int compile(
	struct str pattern, const struct spot *spot, pcre2_code **ret_code, perch_err *err)
{
	if (pattern.len > PATTERN_LENGTH_MAX)
		return spot_error(
			err, -EINVAL, spot, "a pattern of more than %d bytes", PATTERN_LENGTH_MAX);
	int problem = 0;
	PCRE2_SIZE offset = 0;
	pcre2_code *code = pcre2_compile(
		(PCRE2_SPTR)pattern.data, pattern.len, compile_options, &problem, &offset, NULL);
	if (code) {
		*ret_code = code;
		return 0;
	}
	if (problem == PCRE2_ERROR_HEAP_FAILED)
		return err_no_memory(err);
	PCRE2_UCHAR words[160] = { 0 };
	pcre2_get_error_message(problem, words, sizeof(words));
	return spot_error(err, -EINVAL, spot, "the pattern is wrong at byte %zu: %s",
		(size_t)offset + 1, (const char *)words);
}

int pattern_check(struct str pattern, const struct spot *spot, perch_err *err)
{
	_cleanup_(code_freep) pcre2_code *code = NULL;
	return compile(pattern, spot, &code, err);
}

static int on_step(pcre2_callout_block *block, void *data)
{
	(void)block;
	return meter_is_spent(data) ? PCRE2_ERROR_MATCHLIMIT : 0;
}

static int judge(int result, const struct spot *spot, perch_err *err)
{
	switch (result) {
	case PCRE2_ERROR_NOMATCH:
		return 0;
	case PCRE2_ERROR_NOMEMORY:
		return err_no_memory(err);
	case PCRE2_ERROR_MATCHLIMIT:
	case PCRE2_ERROR_DEPTHLIMIT:
	case PCRE2_ERROR_HEAPLIMIT:
		return spot_error(err, PERCH_ELIMIT, spot, "its pattern takes too long to match");
	default:
		break;
	}
	if (result >= 0)
		return 1;
	return spot_error(err, -EINVAL, spot, "its pattern cannot be matched (PCRE2 says %d)", result);
}

void patterns_free(struct patterns *patterns)
{
	for (size_t i = 0; i < patterns->count; i++)
		pcre2_code_free(patterns->items[i].code);
	free(patterns->items);
}

static int find_code(struct patterns *patterns, const perch_json_value *pattern,
	const struct spot *spot, pcre2_code **ret_code, perch_err *err)
{
	for (size_t i = 0; i < patterns->count; i++) {
		if (patterns->items[i].source == pattern) {
			*ret_code = patterns->items[i].code;
			return 0;
		}
	}
	struct pattern *items =
		vec_grow(patterns->items, &patterns->cap, patterns->count + 1, sizeof(*items));
	if (!items)
		return err_no_memory(err);
	patterns->items = items;
	int r = compile(json_str(pattern), spot, ret_code, err);
	if (r == 0)
		items[patterns->count++] = (struct pattern){ pattern, *ret_code };
	return r;
}

int patterns_match(struct patterns *patterns, const perch_json_value *pattern, struct str text,
	struct meter *meter, const struct spot *spot, perch_err *err)
{
	pcre2_code *code = NULL;
	int r = find_code(patterns, pattern, spot, &code, err);
	if (r < 0)
		return r;
	_cleanup_(match_context_freep) pcre2_match_context *context = pcre2_match_context_create(NULL);
	_cleanup_(match_data_freep) pcre2_match_data *data = pcre2_match_data_create(1, NULL);
	if (!context || !data)
		return err_no_memory(err);
	pcre2_set_match_limit(context, MATCH_STEPS_MAX);
	pcre2_set_heap_limit(context, MATCH_MEMORY_MAX_KIB);
	pcre2_set_callout(context, on_step, meter);
	r = pcre2_match(code, (PCRE2_SPTR)text.data, text.len, 0, 0, data, context);
	return judge(r, spot, err);
}
