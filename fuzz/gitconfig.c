/* Any bytes as a config file of git: what is read must have a name, lie inside
 * bounds, and be read again as the same from a text made of it. */
#include "fuzz.h"

#include "fledge/git_parts.h"

struct seen {
	struct buf list;    /* every variable, NUL-terminated pieces */
	struct buf rewrite; /* the same as a config file */
};

/* Only a value can have a line break in it, which is written \n. */
static void append_quoted(struct buf *out, struct str text)
{
	buf_append_char(out, '"');
	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];
		if (c == '\n')
			buf_append_text(out, "\\n");
		else if (c == '"' || c == '\\')
			buf_printf(out, "\\%c", c);
		else
			buf_append_char(out, c);
	}
	buf_append_char(out, '"');
}

/* A section of its own for every variable; those without one come first in a
 * file, and are left out. */
static void rewrite(struct buf *out, const struct git_variable *variable)
{
	struct str name = variable->name;
	const char *first = memchr(name.data, '.', name.len);
	const char *last = memrchr(name.data, '.', name.len);
	if (!first)
		return;
	buf_printf(out, "[%.*s", (int)(first - name.data), name.data);
	if (last != first) {
		buf_append_char(out, ' ');
		append_quoted(out, (struct str){ first + 1, (size_t)(last - first) - 1 });
	}
	buf_printf(out, "]\n%.*s", (int)(name.data + name.len - last) - 1, last + 1);
	if (variable->has_value) {
		buf_append_text(out, " = ");
		append_quoted(out, variable->value);
	}
	buf_append_char(out, '\n');
}

static int take(void *data, const struct git_variable *variable)
{
	struct seen *seen = data;
	check(variable->name.len > 0);
	check(!memchr(variable->name.data, '\n', variable->name.len));
	check(variable->has_value || variable->value.len == 0);
	if (memchr(variable->name.data, '.', variable->name.len)) {
		buf_append(&seen->list, variable->name.data, variable->name.len);
		buf_append_char(&seen->list, variable->has_value ? '=' : '!');
		buf_append(&seen->list, variable->value.data, variable->value.len);
		buf_append_char(&seen->list, '\0');
	}
	rewrite(&seen->rewrite, variable);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen first = { 0 };
	struct seen second = { 0 };
	bool has_cr = memchr(data, '\r', size) != NULL; /* before a line end it would go */
	int r = git_config_read((struct str){ (const char *)data, size }, take, &first);
	check(r == 0 || r == PERCH_ESYNTAX);
	if (r == 0 && !has_cr && !memchr(data, '.', size)) {
		struct str again = { first.rewrite.data, first.rewrite.len };
		check(git_config_read(again, take, &second) == 0);
		check(first.list.len == second.list.len);
		check(!first.list.len || !memcmp(first.list.data, second.list.data, first.list.len));
	}
	struct arena arena = { 0 };
	check(git_url_clean((struct str){ (const char *)data, size }, &arena) != NULL);
	arena_free(&arena);
	buf_free(&first.list);
	buf_free(&first.rewrite);
	buf_free(&second.list);
	buf_free(&second.rewrite);
	return 0;
}
