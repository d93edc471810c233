/* A scene is where a host is checked: a home, a project, and an actor installed the way its
 * protocol has it. Everything lies below one directory that is removed with the scene. */
#ifndef CONFORMANCE_SCENE_H
#define CONFORMANCE_SCENE_H

#include "base/arena.h"
#include "conformance/library.h"
#include "conformance/pattern.h"

/* A {name} in the host's command line, and what stands for it. */
struct placeholder {
	const char *name;
	const char *value;        /* one word */
	const char *const *words; /* or as many as there are */
};

enum { SCENE_PLACEHOLDERS_MAX = 16 };

struct scene {
	struct arena arena;
	char *top;
	const char *project;   /* the working directory of the host */
	const char *directory; /* the actor's */
	const char *pipe;      /* by which the actor reports */
	struct variable variables[4];
	struct placeholder placeholders[SCENE_PLACEHOLDERS_MAX];
	size_t placeholder_count;
};

/* What a scene is for. */
struct scene_spec {
	const char *self; /* the perch that plays the actor */
	enum protocol protocol;
	struct str cases; /* the file of the case */
	const struct conformance_case *test;
};

/* Makes it below TMPDIR. Whether this fails or not, scene_remove must follow. */
int scene_make(const struct scene_spec *spec, struct scene *scene, perch_err *err);

/* The same with a project alone, in which a plugin is to be started. */
int scene_make_bare(struct scene *scene, perch_err *err);

void scene_remove(struct scene *scene);

/* The environment of the host: ours, with the homes of the scene, and what the
 * case adds. NULL without memory. */
const char *const *scene_environment(struct scene *scene, const struct conformance_case *test);

/* What may stand between braces in a host's command line; ends with NULL. */
const char *const *scene_placeholders(enum protocol protocol);

/* The first {name} in a command line that is not in that list; empty = there is none. Braces around
 * anything else, as in {"a":1}, are text. */
struct str scene_unknown_placeholder(enum protocol protocol, const char *command);

/* The words of a host's command line; one without a placeholder gets those that
 * hosts of this protocol take. NULL without memory. */
const char *const *scene_command(struct scene *scene, enum protocol protocol, const char *command);

/* ---- for its parts -------------------------------------------------------------- */

/* "…", as JSON, TOML and YAML read it; in the arena. NULL without memory. */
const char *scene_quote(struct scene *scene, const char *text);

/* Adds one; value or words may be NULL. */
void scene_place(
	struct scene *scene, const char *name, const char *value, const char *const *words);

/* In case_install.c. The actor's program, which is at `path` below its directory, and
 * what its protocol needs beside it. */
int scene_install(struct scene *scene, const struct scene_spec *spec, perch_err *err);

#endif
