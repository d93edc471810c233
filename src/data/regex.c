/* Regular expressions, by PCRE2 and with limits. What a pattern may cost while it is
 * compiled PCRE2 does not limit by itself: its memory is counted here. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "data/regex.h"

/* A step after this many of them looks at the clock. */
enum { REGEX_STEPS_PER_LOOK = 64 };

/* Memory that one expression, or one match of it, has taken. */
struct regex_memory {
	size_t used;
	size_t most;
	bool is_exceeded;
};

/* In front of each piece of it; as large as keeps what follows aligned. */
union regex_piece {
	size_t size;
	max_align_t alignment;
};

struct regex {
	struct regex_memory memory;
	pcre2_general_context *context;
	pcre2_code *code;
	pcre2_match_context *limits; /* of a match; these two are made with the first one */
	pcre2_match_data *found;
};

DEFINE_POINTER_CLEANUP(compile_context_freep, pcre2_compile_context, pcre2_compile_context_free)

/* A callout at every item is where the time is looked at. */
static const uint32_t regex_options[] = {
	[REGEX_BYTES] = PCRE2_DOLLAR_ENDONLY | PCRE2_DOTALL | PCRE2_AUTO_CALLOUT,
	[REGEX_LINES] = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_MULTILINE |
		PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT,
	[REGEX_SCHEMA] = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALT_BSUX | PCRE2_MATCH_UNSET_BACKREF |
		PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT,
};

/* ---- memory that is counted ------------------------------------------------------- */

static void *regex_take_memory(size_t size, void *data)
{
	struct regex_memory *memory = data;
	if (size > memory->most - memory->used) {
		memory->is_exceeded = true;
		return NULL;
	}
	union regex_piece *piece = malloc(sizeof(*piece) + size);
	if (!piece)
		return NULL;
	piece->size = size;
	memory->used += size;
	return piece + 1;
}

static void regex_give_memory(void *start, void *data)
{
	struct regex_memory *memory = data;
	if (!start)
		return;
	union regex_piece *piece = (union regex_piece *)start - 1;
	memory->used -= piece->size;
	free(piece);
}

/* ---- compiling --------------------------------------------------------------------- */

void regex_free(struct regex *regex)
{
	if (!regex)
		return;
	pcre2_match_data_free(regex->found);
	pcre2_match_context_free(regex->limits);
	pcre2_code_free(regex->code);
	pcre2_general_context_free(regex->context);
	free(regex);
}

static int regex_refuse(const struct regex *regex, int problem, size_t offset, perch_err *err)
{
	PCRE2_UCHAR words[160] = { 0 };
	if (regex->memory.is_exceeded || problem == PCRE2_ERROR_PATTERN_TOO_LARGE)
		return err_set(err, PERCH_ELIMIT, "too large once it is compiled");
	if (problem == PCRE2_ERROR_HEAP_FAILED)
		return err_no_memory(err);
	pcre2_get_error_message(problem, words, sizeof(words));
	return err_set(err, PERCH_ESYNTAX, "wrong at byte %zu: %s", offset + 1, (const char *)words);
}

static int regex_make(struct regex *regex, struct str text, enum regex_kind kind, perch_err *err)
{
	regex->memory = (struct regex_memory){ .most = REGEX_COMPILE_MEMORY_MAX };
	regex->context =
		pcre2_general_context_create(regex_take_memory, regex_give_memory, &regex->memory);
	_cleanup_(compile_context_freep) pcre2_compile_context *context =
		regex->context ? pcre2_compile_context_create(regex->context) : NULL;
	if (!context)
		return err_no_memory(err);
	int problem = 0;
	PCRE2_SIZE offset = 0;
	regex->code = pcre2_compile((PCRE2_SPTR)(text.data ? text.data : ""), text.len,
		regex_options[kind], &problem, &offset, context);
	return regex->code ? 0 : regex_refuse(regex, problem, offset, err);
}

int regex_compile(struct str text, enum regex_kind kind, struct regex **ret_regex, perch_err *err)
{
	if (text.len > REGEX_LENGTH_MAX)
		return err_set(err, PERCH_ELIMIT, "longer than %d bytes", REGEX_LENGTH_MAX);
	_cleanup_(regex_freep) struct regex *regex = calloc(1, sizeof(*regex));
	if (!regex)
		return err_no_memory(err);
	int r = regex_make(regex, text, kind, err);
	if (r == 0)
		*ret_regex = steal(&regex);
	return r;
}

/* ---- matching ---------------------------------------------------------------------- */

struct regex_meter {
	uint64_t end_ns;
	unsigned steps;
};

static int regex_on_step(pcre2_callout_block *block, void *data)
{
	(void)block;
	struct regex_meter *meter = data;
	bool is_spent =
		++meter->steps % REGEX_STEPS_PER_LOOK == 0 && clock_processor_ns() > meter->end_ns;
	return is_spent ? PCRE2_ERROR_MATCHLIMIT : 0;
}

static int regex_judge(int result)
{
	switch (result) {
	case PCRE2_ERROR_NOMATCH:
		return 0;
	case PCRE2_ERROR_NOMEMORY:
		return -ENOMEM;
	case PCRE2_ERROR_MATCHLIMIT:
	case PCRE2_ERROR_DEPTHLIMIT:
	case PCRE2_ERROR_HEAPLIMIT:
		return PERCH_ELIMIT;
	default:
		return result >= 0 ? 1 : -EINVAL;
	}
}

/* What every match needs, made with the first: a list of many texts is matched one by one. */
static int regex_prepare(struct regex *regex)
{
	if (!regex->limits)
		regex->limits = pcre2_match_context_create(NULL);
	if (!regex->found)
		regex->found = pcre2_match_data_create(1, NULL);
	if (!regex->limits || !regex->found)
		return -ENOMEM;
	pcre2_set_match_limit(regex->limits, REGEX_MATCH_STEPS_MAX);
	pcre2_set_depth_limit(regex->limits, REGEX_MATCH_DEPTH_MAX);
	pcre2_set_heap_limit(regex->limits, REGEX_MATCH_MEMORY_MAX_KIB);
	return 0;
}

int regex_match(struct regex *regex, struct str text, uint64_t end_ns)
{
	if (regex_prepare(regex) < 0)
		return -ENOMEM;
	struct regex_meter meter = {
		.end_ns = end_ns ? end_ns : clock_processor_ns() + REGEX_TIME_MAX_NS,
	};
	pcre2_set_callout(regex->limits, regex_on_step, &meter);
	return regex_judge(pcre2_match(regex->code, (PCRE2_SPTR)(text.data ? text.data : ""), text.len,
		0, 0, regex->found, regex->limits));
}
