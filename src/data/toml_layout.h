/* Where things stand in a TOML text, for the editor: lines, sections, and the
 * comments that belong to them. A section is a header with the lines below it
 * up to the next header. */
#ifndef DATA_TOML_LAYOUT_H
#define DATA_TOML_LAYOUT_H

#include "data/toml_reader.h"

struct toml_layout {
	struct str text;
	size_t first; /* behind the byte order mark */
	const struct toml *toml;
};

/* Is value what ancestor is, or somewhere below it? */
bool toml_is_within(const struct toml_value *value, const struct toml_value *ancestor);

/* A header, or a key with its value that is not part of an inline table. */
bool toml_is_statement(const struct toml_span *span);
bool toml_is_header(const struct toml_span *span);

/* The text that defines value, or NULL (a table without header, the root). */
const struct toml_span *toml_span_of(
	const struct toml_layout *layout, const struct toml_value *value);

/* The next statement or header behind span; NULL at the end. span may be NULL:
 * the first one. */
const struct toml_span *toml_next_statement(
	const struct toml_layout *layout, const struct toml_span *span);
const struct toml_span *toml_next_header(
	const struct toml_layout *layout, const struct toml_span *span);

/* The first byte of the line that holds `at`, and of the next line. */
size_t toml_line_start(const struct toml_layout *layout, size_t at);
size_t toml_line_end(const struct toml_layout *layout, size_t at);
bool toml_is_blank_line(const struct toml_layout *layout, size_t at);
bool toml_is_comment_line(const struct toml_layout *layout, size_t at);

/* Skips spaces and tabs, forwards and backwards. */
size_t toml_behind_blanks(const struct toml_layout *layout, size_t at);
size_t toml_before_blanks(const struct toml_layout *layout, size_t at);

/* A section with what belongs to it: the comment lines directly above its
 * header, and those directly below its last line unless they stand directly
 * above the next header. */
size_t toml_section_start(const struct toml_layout *layout, const struct toml_span *header);
size_t toml_section_end(const struct toml_layout *layout, const struct toml_span *header);

#endif
