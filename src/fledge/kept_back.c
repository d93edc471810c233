/* What the sandbox kept from a plugin. */
#include "fledge/kept_back.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/macros.h"
#include "sandbox/policy/explain.h"
#include "sandbox/policy/policy.h"

enum {
	KEPT_BACK_TAIL = 4096, /* of what it has said */
	KEPT_BACK_NAMES = 4,   /* variables that are named */
};

struct kept_back {
	const struct kept_back_options *options;
	struct arena arena;
	char tail[KEPT_BACK_TAIL];
	size_t tail_len;
	const char *names[KEPT_BACK_NAMES];
	size_t name_count;
	const char *preset;
	bool wants_plugins;
	bool has_advice;
	struct explain_advice advice;
};

struct kept_back *kept_back_new(const struct kept_back_options *options)
{
	if (!options || !options->plugin)
		return NULL;
	struct kept_back *kept = calloc(1, sizeof(*kept));
	if (kept)
		kept->options = options;
	return kept;
}

void kept_back_free(struct kept_back *kept)
{
	if (!kept)
		return;
	arena_free(&kept->arena);
	free(kept);
}

/* ---- variables ------------------------------------------------------------------ */

/* The last half stays when it is full: names are short. */
void kept_back_hear(struct kept_back *kept, struct str text)
{
	enum { HALF = KEPT_BACK_TAIL / 2 };
	if (!kept)
		return;
	if (text.len > HALF)
		text = (struct str){ text.data + text.len - HALF, HALF };
	if (kept->tail_len + text.len > KEPT_BACK_TAIL) {
		memmove(kept->tail, kept->tail + kept->tail_len - HALF, HALF);
		kept->tail_len = HALF;
	}
	memcpy(kept->tail + kept->tail_len, text.data ? text.data : "", text.len);
	kept->tail_len += text.len;
}

static bool kept_back_is_of_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool kept_back_names(struct str text, const char *name)
{
	size_t len = strlen(name);
	for (const char *at = text.data; at;) {
		at = memmem(at, text.len - (size_t)(at - text.data), name, len);
		if (!at)
			return false;
		const char *behind = at + len;
		bool begins = at == text.data || !kept_back_is_of_name(at[-1]);
		if (begins && (behind == text.data + text.len || !kept_back_is_of_name(*behind)))
			return true;
		at++;
	}
	return false;
}

static void kept_back_look_for_names(struct kept_back *kept, struct str text)
{
	const char *const *name = kept->options->variables;
	for (; name && *name && text.len && kept->name_count < KEPT_BACK_NAMES; name++) {
		bool is_known = false;
		for (size_t i = 0; i < kept->name_count; i++)
			is_known |= kept->names[i] == *name;
		if (!is_known && kept_back_names(text, *name))
			kept->names[kept->name_count++] = *name;
	}
}

/* ---- commands --------------------------------------------------------------------- */

/* The first word of a part of a command that is no assignment, as a program's name. */
static struct str kept_back_program(struct str part)
{
	while ((part = str_trim(part)).len) {
		struct str word = str_cut(&part, ' ');
		if (memchr(word.data, '=', word.len) || str_is(word, "exec") || str_is(word, "!"))
			continue;
		const char *slash = memrchr(word.data, '/', word.len);
		return slash ? (struct str){ slash + 1, (size_t)(word.data + word.len - slash - 1) } : word;
	}
	return part;
}

static void kept_back_look_at_program(struct kept_back *kept, struct str program)
{
	const struct kept_back_options *options = kept->options;
	const char *home = getenv("HOME");
	if (str_is(program, "fledge") || str_is(program, "perch"))
		kept->wants_plugins |= !options->may_call;
	else if (!kept->preset)
		kept->preset =
			policy_missed_preset(&kept->arena, home ? home : "", options->widening, program);
}

void kept_back_command(struct kept_back *kept, const char *command, struct str out, struct str err)
{
	if (!kept)
		return;
	kept_back_look_for_names(kept,
		out.len > KEPT_BACK_TAIL
			? (struct str){ out.data + out.len - KEPT_BACK_TAIL, KEPT_BACK_TAIL }
			: out);
	kept_back_look_for_names(kept,
		err.len > KEPT_BACK_TAIL
			? (struct str){ err.data + err.len - KEPT_BACK_TAIL, KEPT_BACK_TAIL }
			: err);
	if (!kept->options->explain)
		return;
	for (const char *at = command; *at; at += strspn(at, "&|;\n(")) {
		size_t len = strcspn(at, "&|;\n(");
		kept_back_look_at_program(kept, kept_back_program((struct str){ at, len }));
		at += len;
	}
	const struct explain_context *context =
		err.len && !kept->has_advice ? kept->options->explain(kept->options->data) : NULL;
	if (context)
		kept->has_advice = explain_advise(context, err, &kept->advice);
}

/* ---- the line ---------------------------------------------------------------------- */

static void kept_back_add(struct buf *list, const char *what)
{
	buf_printf(list, "%s%s", list->len ? ", " : "", what);
}

/* What it was, and the options that allow it. */
static void kept_back_list(const struct kept_back *kept, struct buf *what, struct buf *options)
{
	for (size_t i = 0; i < kept->name_count; i++) {
		kept_back_add(what, kept->names[i]);
		buf_printf(options, " --env %s", kept->names[i]);
	}
	if (kept->preset) {
		buf_printf(what, "%swhat %s uses", what->len ? ", " : "", kept->preset);
		buf_printf(options, " --preset %s", kept->preset);
	}
	if (kept->has_advice) {
		const struct explain_advice *advice = &kept->advice;
		kept_back_add(what, advice->word[0] ? advice->shown : "the network");
		buf_printf(options, " %s%s%s", advice->option, advice->word[0] ? " " : "", advice->word);
	}
	if (kept->wants_plugins) {
		kept_back_add(what, "other plugins");
		buf_append_text(options, " --grant plugins");
	}
}

static bool kept_back_say_number(const struct kept_back *kept, struct buf *out)
{
	size_t count = list_count(kept->options->variables);
	if (!count)
		return false;
	buf_printf(out,
		"%zu variable%s that look%s like secrets w%s kept from it: perch plugins audit %s", count,
		count == 1 ? "" : "s", count == 1 ? "s" : "", count == 1 ? "as" : "ere",
		kept->options->plugin);
	return true;
}

bool kept_back_say(struct kept_back *kept, bool has_failed, struct buf *out)
{
	struct buf what = { 0 };
	struct buf options = { 0 };
	if (!kept)
		return false;
	if (has_failed)
		kept_back_look_for_names(kept, (struct str){ kept->tail, kept->tail_len });
	kept_back_list(kept, &what, &options);
	bool is_told = what.len > 0;
	if (is_told)
		buf_printf(out, "kept from it: %.*s; to allow that: %s%sperch plugins allow %s%.*s",
			(int)what.len, what.data, kept->has_advice ? kept->advice.make : "",
			kept->has_advice && kept->advice.make[0] ? " && " : "", kept->options->plugin,
			(int)options.len, options.data);
	else if (has_failed)
		is_told = kept_back_say_number(kept, out);
	buf_free(&what);
	buf_free(&options);
	return is_told;
}
