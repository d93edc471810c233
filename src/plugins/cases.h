/* perch-test.toml: the test cases of a plugin, and what each expects. docs/plugin-authors.md
 * explains every key. */
#ifndef PLUGINS_CASES_H
#define PLUGINS_CASES_H

#include "plugins/author_file.h"
#include "registry/manifest.h"

#define CASES_FILE "perch-test.toml"
#define CASE_TIMEOUT_DEFAULT 30.0 /* seconds */
#define CASE_TIMEOUT_MAX 3600.0

enum {
	CASES_SIZE_MAX = 1024 * 1024, /* of the file */
	CASES_MAX = 1000,
};

enum scripted_kind { SCRIPTED_TEXT, SCRIPTED_BOOL, SCRIPTED_LIST, SCRIPTED_CANCEL };

/* What the user of a case answers. */
struct scripted_answer {
	enum scripted_kind kind;
	struct toml_place at;
	const char *question; /* what it answers; NULL = the next question, in order */
	const char *text;
	bool yes;
	const char *const *list; /* NULL-terminated */
};

struct case_text {
	struct toml_place at;
	const char *text;
};

struct case_texts {
	const struct case_text *items;
	size_t count;
};

struct case_expectation {
	int exit;
	struct case_texts output;       /* each must be in it */
	struct case_texts output_regex; /* each must match; they compile */
	struct author_pairs state;      /* each must be stored */
};

struct test_case {
	const char *name;
	struct toml_place at;
	const struct manifest_command *command;
	const char *const *args; /* NULL-terminated */
	struct capabilities granted;
	const struct scripted_answer *answers;
	size_t answer_count;
	double timeout;            /* seconds */
	struct author_pairs files; /* of the project: relative paths that stay inside */
	struct author_pairs state; /* what is stored before */
	struct case_expectation expect;
};

struct test_cases {
	const struct test_case *items;
	size_t count;
};

/* Reads them for a plugin with this manifest, which must outlive them. Every mistake is a finding,
 * also an unknown key: a typing error must not make a test that tests nothing. Without an error,
 * *ret_cases can be used; everything lives in the arena. */
void cases_parse(struct str text, const struct manifest *manifest, struct arena *arena,
	struct test_cases *ret_cases, struct findings *findings);

/* The same from directory/perch-test.toml. */
void cases_read(const char *directory, const struct manifest *manifest, struct arena *arena,
	struct test_cases *ret_cases, struct findings *findings);

#endif
