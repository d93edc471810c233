/* Any bytes as a schema and an input: no crash and no hang; an error has words,
 * and what the check refuses lets nothing pass. The two are parted by a NUL. */
#include "fuzz.h"

#include <errno.h>

#include "base/str.h"
#include "tool/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str input = { (const char *)data, size };
	struct str schema = str_cut(&input, '\0');
	perch_err checked = { 0 };
	perch_err judged = { 0 };
	int r = tool_schema_check(schema, &checked);
	int verdict = tool_schema_validate(schema, input, &judged);
	check(r == 0 || (checked.code == r && checked.text[0]));
	check(verdict == 0 || (judged.code == verdict && judged.text[0]));
	check(r == 0 || verdict == r);
	check(verdict <= 0);
	return 0;
}
