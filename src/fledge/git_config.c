/* The syntax of git's config files: sections, quoted subsections, names, values
 * with quotes, escapes, comments and lines that go on. */
#include <errno.h>

#include "base/cleanup.h"
#include "fledge/git_parts.h"
#include "perch/base.h"

struct reader {
	const char *at;
	const char *end;
	bool is_over;       /* what git_config_next() gave out last was no character of the text */
	struct buf name;    /* "section.subsection." and then the variable's own */
	size_t section_len; /* of it, with the last dot */
	struct buf value;
	bool is_doubtful; /* a blank in the value that not every git reads alike */
};

/* CR LF is one line end, and so is the end of the text. */
static int git_config_next(struct reader *r)
{
	if (r->at == r->end) {
		r->is_over = true;
		return '\n';
	}
	if (*r->at == '\r' && r->end - r->at > 1 && r->at[1] == '\n')
		r->at++;
	return (unsigned char)*r->at++;
}

static bool git_config_is_blank(int c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool git_config_is_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool git_config_is_name_character(int c)
{
	return git_config_is_letter(c) || (c >= '0' && c <= '9') || c == '-';
}

static int git_config_append_lower(struct buf *buf, int c)
{
	return buf_append_char(buf, (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c));
}

/* `"name"]`, the blanks before it having begun. Only here capitals stay. */
static int git_config_read_subsection(struct reader *r, int c)
{
	while (git_config_is_blank(c) && c != '\n')
		c = git_config_next(r);
	if (c != '"')
		return PERCH_ESYNTAX;
	buf_append_char(&r->name, '.');
	while ((c = git_config_next(r)) != '"') {
		if (c == '\\')
			c = git_config_next(r);
		if (c == '\n' || c == '\0')
			return PERCH_ESYNTAX;
		buf_append_char(&r->name, (char)c);
	}
	return git_config_next(r) == ']' ? 0 : PERCH_ESYNTAX;
}

/* `section]` or `section "subsection"]`, or, as it once was, `section.subsection]`. */
static int git_config_read_section(struct reader *r)
{
	int result = 0;
	buf_clear(&r->name);
	for (int c; (c = git_config_next(r)) != ']';) {
		if (git_config_is_blank(c)) {
			result = git_config_read_subsection(r, c);
			break;
		}
		if (!git_config_is_name_character(c) && c != '.')
			return PERCH_ESYNTAX;
		git_config_append_lower(&r->name, c);
	}
	if (r->name.len == 0 && !r->name.failed)
		return PERCH_ESYNTAX;
	buf_append_char(&r->name, '.');
	r->section_len = r->name.len;
	return result;
}

/* What stands behind a backslash; a line end there is nothing at all. */
static int git_config_read_escape(struct reader *r)
{
	int c = git_config_next(r);
	switch (c) {
	case '\n':
		return 0;
	case 'n':
		return buf_append_char(&r->value, '\n');
	case 't':
		return buf_append_char(&r->value, '\t');
	case 'b':
		return buf_append_char(&r->value, '\b');
	case '\\':
	case '"':
		return buf_append_char(&r->value, (char)c);
	default:
		return PERCH_ESYNTAX;
	}
}

static void git_config_skip_line(struct reader *r)
{
	while (git_config_next(r) != '\n')
		;
}

/* Up to the end of the line; blanks around it count only inside quotes. Which blank stands
 * in the middle is a matter of git's age: a space up to 2.43, later the one that is written. */
static int git_config_read_value(struct reader *r)
{
	bool is_quoted = false;
	bool is_odd = false; /* a blank that matters if something stands behind it */
	size_t kept = 0;     /* so much does not end in blanks that are to be cut */
	r->is_doubtful = false;
	buf_clear(&r->value);
	for (int c; (c = git_config_next(r)) != '\n';) {
		if (c == '\0')
			return PERCH_ESYNTAX;
		if (!is_quoted && (c == '#' || c == ';')) {
			git_config_skip_line(r);
			break;
		}
		if (!is_quoted && git_config_is_blank(c)) {
			is_odd |= c != ' ' && r->value.len;
			if (r->value.len)
				buf_append_char(&r->value, ' ');
			continue;
		}
		r->is_doubtful |= is_odd;
		if (c == '"')
			is_quoted = !is_quoted;
		else if (c != '\\')
			buf_append_char(&r->value, (char)c);
		else if (git_config_read_escape(r) < 0)
			return PERCH_ESYNTAX;
		kept = r->value.len;
	}
	if (is_quoted)
		return PERCH_ESYNTAX;
	r->value.len = kept;
	return 0;
}

/* A name that has begun with c, and its value. */
static int git_config_read_variable(struct reader *r, int c, git_variable_fn *take, void *data)
{
	r->name.len = r->section_len;
	for (; git_config_is_name_character(c); c = git_config_next(r))
		git_config_append_lower(&r->name, c);
	while (c == ' ' || c == '\t')
		c = git_config_next(r);
	bool has_value = c == '=';
	if (!has_value && c != '\n')
		return PERCH_ESYNTAX;
	buf_clear(&r->value);
	int result = has_value ? git_config_read_value(r) : 0;
	if (r->name.failed || r->value.failed)
		return -ENOMEM;
	if (result < 0)
		return result;
	struct git_variable variable = {
		.name = { r->name.data, r->name.len },
		.value = { r->value.data, r->value.len },
		.has_value = has_value,
		.is_doubtful = has_value && r->is_doubtful,
	};
	return take(data, &variable);
}

static int git_config_read_all(struct reader *r, git_variable_fn *take, void *data)
{
	int result = 0;
	while (result >= 0 && !r->is_over) {
		int c = git_config_next(r);
		if (git_config_is_blank(c))
			continue;
		if (c == '#' || c == ';')
			git_config_skip_line(r);
		else if (c == '[')
			result = git_config_read_section(r);
		else if (git_config_is_letter(c))
			result = git_config_read_variable(r, c, take, data);
		else
			result = PERCH_ESYNTAX;
	}
	return r->name.failed ? -ENOMEM : result < 0 ? result : 0;
}

int git_config_read(struct str text, git_variable_fn *take, void *data)
{
	static const struct str byte_order_mark = { "\xEF\xBB\xBF", 3 };
	if (str_has_prefix(text, byte_order_mark)) {
		text.data += byte_order_mark.len;
		text.len -= byte_order_mark.len;
	}
	if (!text.len)
		return 0; /* and perhaps no data either: no arithmetic on NULL */
	struct reader reader = { .at = text.data, .end = text.data + text.len };
	int result = git_config_read_all(&reader, take, data);
	buf_free(&reader.name);
	buf_free(&reader.value);
	return result;
}
