/* Regular expressions for lines that may be anything. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <errno.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "conformance/regex.h"

enum { MATCH_STEPS_MAX = 10 * 1000 * 1000, MATCH_MEMORY_MAX_KIB = 64 * 1024 };

DEFINE_POINTER_CLEANUP(code_freep, pcre2_code, pcre2_code_free)
DEFINE_POINTER_CLEANUP(match_data_freep, pcre2_match_data, pcre2_match_data_free)
DEFINE_POINTER_CLEANUP(match_context_freep, pcre2_match_context, pcre2_match_context_free)

static int compile(struct str regex, pcre2_code **ret_code, perch_err *err)
{
	int problem = 0;
	PCRE2_SIZE offset = 0;
	PCRE2_UCHAR words[160] = { 0 };
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)regex.data, regex.len,
		PCRE2_DOLLAR_ENDONLY | PCRE2_DOTALL, &problem, &offset, NULL);
	if (code) {
		*ret_code = code;
		return 0;
	}
	if (problem == PCRE2_ERROR_HEAP_FAILED)
		return err_no_memory(err);
	pcre2_get_error_message(problem, words, sizeof(words));
	return err_set(err, PERCH_ESYNTAX, "wrong at byte %zu: %s", (size_t)offset + 1, (char *)words);
}

int regex_verify(struct str regex, perch_err *err)
{
	_cleanup_(code_freep) pcre2_code *code = NULL;
	return compile(regex, &code, err);
}

int regex_match(struct str regex, struct str text)
{
	_cleanup_(code_freep) pcre2_code *code = NULL;
	_cleanup_(match_context_freep) pcre2_match_context *context = NULL;
	_cleanup_(match_data_freep) pcre2_match_data *data = NULL;
	int r = compile(regex, &code, NULL);
	if (r < 0)
		return r;
	context = pcre2_match_context_create(NULL);
	data = pcre2_match_data_create(1, NULL);
	if (!context || !data)
		return -ENOMEM;
	pcre2_set_match_limit(context, MATCH_STEPS_MAX);
	pcre2_set_heap_limit(context, MATCH_MEMORY_MAX_KIB);
	r = pcre2_match(code, (PCRE2_SPTR)(text.data ? text.data : ""), text.len, 0, 0, data, context);
	return r == PCRE2_ERROR_NOMEMORY ? -ENOMEM : r >= 0;
}
