/* The facts of an event, as JSON. */
#include "trace/facts.h"

#include <errno.h>

#include "data/json.h"

static void facts_write_fact(perch_json_writer *writer, const struct trace_fact *fact)
{
	struct str text = fact->text;
	perch_json_write_name(writer, fact->name);
	switch (fact->kind) {
	case TRACE_FACT_NUMBER:
		perch_json_write_int64(writer, fact->number);
		break;
	case TRACE_FACT_FLAG:
		perch_json_write_bool(writer, fact->number != 0);
		break;
	case TRACE_FACT_TEXT:
		perch_json_write_string_n(writer, text.data ? text.data : "", text.len);
		break;
	case TRACE_FACT_JSON:
		text = text.len ? text : STR("null");
		perch_json_write_raw(writer, text.data, text.len);
		break;
	}
}

int facts_write(struct buf *out, const struct trace_fact *facts)
{
	perch_json_writer writer = json_writer_on(out);
	perch_json_begin_object(&writer);
	for (; facts->name; facts++)
		facts_write_fact(&writer, facts);
	perch_json_end_object(&writer);
	return out->failed ? -ENOMEM : 0;
}

int64_t facts_number(const perch_json_value *facts, const char *name)
{
	int64_t number = 0;
	return perch_json_int64(perch_json_get(facts, name), &number) < 0 ? 0 : number;
}

int facts_status(const perch_json_value *facts, const char *name)
{
	int64_t number = facts_number(facts, name);
	return number < -1 || number > UINT8_MAX ? 0 : (int)number;
}

struct str facts_text(const perch_json_value *facts, const char *name)
{
	struct str text = { 0 };
	text.data = perch_json_string(perch_json_get(facts, name), &text.len);
	return text.data ? text : STR("");
}

struct str facts_json(const perch_json_value *facts, const char *name)
{
	struct str text = { 0 };
	text.data = perch_json_raw(perch_json_get(facts, name), &text.len);
	return text;
}
