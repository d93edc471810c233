/* What the sandbox has denied a plugin. */
#include "fledge/denials.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/macros.h"
#include "sandbox/policy/explain.h"
#include "sandbox/policy/policy.h"

enum {
	DENIALS_TAIL = 4096, /* of what it has said */
	DENIALS_NAMES = 4,   /* variables that are named */
};

struct denials {
	const struct denials_options *options;
	struct arena arena;
	char tail[DENIALS_TAIL];
	size_t tail_len;
	const char *names[DENIALS_NAMES];
	size_t name_count;
	const char *preset;
	bool wants_plugins;
	bool has_advice;
	struct explain_advice advice;
};

struct denials *denials_new(const struct denials_options *options)
{
	if (!options || !options->plugin)
		return NULL;
	struct denials *denials = calloc(1, sizeof(*denials));
	if (denials)
		denials->options = options;
	return denials;
}

void denials_free(struct denials *denials)
{
	if (!denials)
		return;
	arena_free(&denials->arena);
	free(denials);
}

/* ---- variables ------------------------------------------------------------------ */

/* The last half stays when it is full: names are short. */
void denials_hear(struct denials *denials, struct str text)
{
	enum { HALF = DENIALS_TAIL / 2 };
	if (!denials)
		return;
	if (text.len > HALF)
		text = (struct str){ text.data + text.len - HALF, HALF };
	if (denials->tail_len + text.len > DENIALS_TAIL) {
		memmove(denials->tail, denials->tail + denials->tail_len - HALF, HALF);
		denials->tail_len = HALF;
	}
	memcpy(denials->tail + denials->tail_len, text.data ? text.data : "", text.len);
	denials->tail_len += text.len;
}

static bool denials_is_of_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool denials_names(struct str text, const char *name)
{
	size_t len = strlen(name);
	for (const char *at = text.data; at;) {
		at = memmem(at, text.len - (size_t)(at - text.data), name, len);
		if (!at)
			return false;
		const char *behind = at + len;
		bool begins = at == text.data || !denials_is_of_name(at[-1]);
		if (begins && (behind == text.data + text.len || !denials_is_of_name(*behind)))
			return true;
		at++;
	}
	return false;
}

static void denials_look_for_names(struct denials *denials, struct str text)
{
	const char *const *name = denials->options->variables;
	for (; name && *name && text.len && denials->name_count < DENIALS_NAMES; name++) {
		bool is_known = false;
		for (size_t i = 0; i < denials->name_count; i++)
			is_known |= denials->names[i] == *name;
		if (!is_known && denials_names(text, *name))
			denials->names[denials->name_count++] = *name;
	}
}

/* ---- commands --------------------------------------------------------------------- */

/* The first word of a part of a command that is no assignment, as a program's name. */
static struct str denials_program(struct str part)
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

static void denials_look_at_program(struct denials *denials, struct str program)
{
	const struct denials_options *options = denials->options;
	const char *home = getenv("HOME");
	if (str_is(program, "fledge") || str_is(program, "perch"))
		denials->wants_plugins |= !options->may_call;
	else if (!denials->preset)
		denials->preset =
			policy_missed_preset(&denials->arena, home ? home : "", options->widening, program);
}

void denials_command(struct denials *denials, const char *command, struct str out, struct str err)
{
	if (!denials)
		return;
	denials_look_for_names(denials,
		out.len > DENIALS_TAIL ? (struct str){ out.data + out.len - DENIALS_TAIL, DENIALS_TAIL }
							   : out);
	denials_look_for_names(denials,
		err.len > DENIALS_TAIL ? (struct str){ err.data + err.len - DENIALS_TAIL, DENIALS_TAIL }
							   : err);
	if (!denials->options->explain)
		return;
	for (const char *at = command; *at; at += strspn(at, "&|;\n(")) {
		size_t len = strcspn(at, "&|;\n(");
		denials_look_at_program(denials, denials_program((struct str){ at, len }));
		at += len;
	}
	const struct explain_context *context =
		err.len && !denials->has_advice ? denials->options->explain(denials->options->data) : NULL;
	if (context)
		denials->has_advice = explain_advise(context, err, &denials->advice);
}

/* ---- the line ---------------------------------------------------------------------- */

static void denials_add(struct buf *list, const char *what)
{
	buf_printf(list, "%s%s", list->len ? ", " : "", what);
}

/* The words for what was denied, and the options that allow it. */
static void denials_list(const struct denials *denials, struct buf *what, struct buf *options)
{
	for (size_t i = 0; i < denials->name_count; i++) {
		denials_add(what, denials->names[i]);
		buf_printf(options, " --env %s", denials->names[i]);
	}
	if (denials->preset) {
		buf_printf(what, "%swhat %s uses", what->len ? ", " : "", denials->preset);
		buf_printf(options, " --preset %s", denials->preset);
	}
	if (denials->has_advice) {
		const struct explain_advice *advice = &denials->advice;
		denials_add(what, advice->word[0] ? advice->shown : "the network");
		buf_printf(options, " %s%s%s", advice->option, advice->word[0] ? " " : "", advice->word);
	}
	if (denials->wants_plugins) {
		denials_add(what, "other plugins");
		buf_append_text(options, " --grant plugins");
	}
}

static bool denials_say_number(const struct denials *denials, struct buf *out)
{
	size_t count = list_count(denials->options->variables);
	if (!count)
		return false;
	buf_printf(out,
		"%zu variable%s that look%s like secrets w%s kept from it: perch plugins audit %s", count,
		count == 1 ? "" : "s", count == 1 ? "s" : "", count == 1 ? "as" : "ere",
		denials->options->plugin);
	return true;
}

bool denials_say(struct denials *denials, bool has_failed, struct buf *out)
{
	struct buf what = { 0 };
	struct buf options = { 0 };
	if (!denials)
		return false;
	if (has_failed)
		denials_look_for_names(denials, (struct str){ denials->tail, denials->tail_len });
	denials_list(denials, &what, &options);
	/* An advice that was cut off would allow something else. */
	bool is_whole = !what.failed && !options.failed;
	bool is_told = is_whole && what.len > 0;
	if (is_told)
		buf_printf(out, "kept from it: %.*s; to allow that: %s%sperch plugins allow %s%.*s",
			(int)what.len, what.data, denials->has_advice ? denials->advice.make : "",
			denials->has_advice && denials->advice.make[0] ? " && " : "", denials->options->plugin,
			(int)options.len, options.data);
	else if (is_whole && has_failed)
		is_told = denials_say_number(denials, out);
	buf_free(&what);
	buf_free(&options);
	return is_told;
}
