/* Writing a fledge-v1 plugin in C.
 *
 *     int main(void)
 *     {
 *         perch_plugin *plugin;
 *         if (perch_plugin_open(&plugin) != PERCH_PLUGIN_OK)
 *             return 1;
 *         bool yes = false;
 *         if (perch_plugin_confirm(plugin, "Deploy?", true, &yes) == PERCH_PLUGIN_OK && yes)
 *             perch_plugin_output(plugin, "deployed\n");
 *         perch_plugin_close(plugin);
 *         return 0;
 *     }
 *
 * stdin and stdout belong to the conversation: print with perch_plugin_output,
 * or to stderr. One thread at a time. Every function that waits for the host
 * ends with a defined result whatever the host does; SIGPIPE is never raised. */
#ifndef PERCH_PLUGIN_H
#define PERCH_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PERCH_SDK_API __attribute__((visibility("default")))
#define PERCH_SDK_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#else
#define PERCH_SDK_API
#define PERCH_SDK_PRINTF(format_index, first)
#endif

typedef struct perch_plugin perch_plugin;

typedef enum perch_plugin_status {
	PERCH_PLUGIN_OK,
	PERCH_PLUGIN_CANCELLED, /* by the user or the host: perch_plugin_cancel_reason */
	PERCH_PLUGIN_DENIED,    /* the capability was not granted */
	PERCH_PLUGIN_CLOSED,    /* the host is gone */
	PERCH_PLUGIN_NONSENSE,  /* the host said something that is not the protocol */
	PERCH_PLUGIN_NO_MEMORY,
} perch_plugin_status;

/* "ok", "cancelled" …: a constant. */
PERCH_SDK_API const char *perch_plugin_status_name(perch_plugin_status status);

/* What the host says at the beginning. Texts are never NULL, "" where there is
 * nothing to say, and belong to the plugin object. */
typedef struct perch_plugin_init {
	const char *command;
	const char *const *args; /* ends with NULL */
	size_t arg_count;
	struct {
		const char *name, *root, *language;
	} project;
	struct {
		bool is_repository;
		const char *branch; /* "HEAD" when detached */
		bool is_dirty;
		const char *remote, *remote_url;
	} git;
	struct {
		const char *name, *version, *directory;
	} plugin;
	struct {
		const char *name, *version;
	} host;
	const char *fledge_version;
	struct {
		bool exec, store, metadata, network;
		const char *filesystem; /* "none", "project", "plugin" */
	} may;
} perch_plugin_init;

/* Waits for the host's first message. *ret_plugin is written with
 * PERCH_PLUGIN_OK only. */
PERCH_SDK_API perch_plugin_status perch_plugin_open(perch_plugin **ret_plugin);

/* The same on other descriptors, which stay the caller's. */
PERCH_SDK_API perch_plugin_status perch_plugin_open_on(
	int in_fd, int out_fd, perch_plugin **ret_plugin);

/* NULL is fine. */
PERCH_SDK_API void perch_plugin_close(perch_plugin *plugin);

PERCH_SDK_API const perch_plugin_init *perch_plugin_about(const perch_plugin *plugin);

/* ---- telling ------------------------------------------------------------- */

/* Text for the user's stdout, verbatim: with its newline. */
PERCH_SDK_API perch_plugin_status perch_plugin_output(perch_plugin *plugin, const char *text);
PERCH_SDK_API perch_plugin_status perch_plugin_outputf(
	perch_plugin *plugin, const char *format, ...) PERCH_SDK_PRINTF(2, 3);

typedef enum perch_plugin_level {
	PERCH_PLUGIN_DEBUG,
	PERCH_PLUGIN_INFO,
	PERCH_PLUGIN_WARN,
	PERCH_PLUGIN_ERROR,
} perch_plugin_level;

PERCH_SDK_API perch_plugin_status perch_plugin_log(
	perch_plugin *plugin, perch_plugin_level level, const char *format, ...) PERCH_SDK_PRINTF(3, 4);

/* A bar; with a total of 0, a spinner. message may be NULL. */
PERCH_SDK_API perch_plugin_status perch_plugin_progress(
	perch_plugin *plugin, const char *message, double current, double total);
PERCH_SDK_API perch_plugin_status perch_plugin_progress_done(perch_plugin *plugin);

/* ---- asking the user ----------------------------------------------------- */

/* A line of text. default_text and validator ("non_empty", "integer",
 * "path_exists", "url") may be NULL. The caller frees *ret_text. */
PERCH_SDK_API perch_plugin_status perch_plugin_prompt(perch_plugin *plugin, const char *message,
	const char *default_text, const char *validator, char **ret_text);

PERCH_SDK_API perch_plugin_status perch_plugin_confirm(
	perch_plugin *plugin, const char *message, bool default_yes, bool *ret_yes);

/* One of the options: its index. default_index: (size_t)-1 for none. */
PERCH_SDK_API perch_plugin_status perch_plugin_select(perch_plugin *plugin, const char *message,
	const char *const *options, size_t option_count, size_t default_index, size_t *ret_index);

/* Any of the options: chosen[i] says what is preselected, and afterwards what
 * was chosen. */
PERCH_SDK_API perch_plugin_status perch_plugin_multi_select(perch_plugin *plugin,
	const char *message, const char *const *options, size_t option_count, bool *chosen);

/* ---- what the host lends ------------------------------------------------- */

/* Returns when the value is on disk. */
PERCH_SDK_API perch_plugin_status perch_plugin_store(
	perch_plugin *plugin, const char *key, const char *value);

/* *ret_value is NULL when nothing is stored under this key; else the caller
 * frees it. */
PERCH_SDK_API perch_plugin_status perch_plugin_load(
	perch_plugin *plugin, const char *key, char **ret_value);

typedef struct perch_plugin_exec_result {
	int code; /* as a shell has it: 124 timeout, 128+n signal */
	char *out;
	size_t out_length;
	char *err;
	size_t err_length;
	bool out_truncated, err_truncated;
} perch_plugin_exec_result;

/* Runs a shell command. cwd may be NULL (the project's root); timeout in
 * seconds, 0 = the host's default. */
PERCH_SDK_API perch_plugin_status perch_plugin_exec(perch_plugin *plugin, const char *command,
	const char *cwd, double timeout, perch_plugin_exec_result *ret_result);
PERCH_SDK_API void perch_plugin_exec_free(perch_plugin_exec_result *result);

/* The values of these keys as a JSON object. The caller frees *ret_json. */
PERCH_SDK_API perch_plugin_status perch_plugin_metadata(
	perch_plugin *plugin, const char *const *keys, size_t key_count, char **ret_json);

/* ---- several requests at once -------------------------------------------- */

/* Sends any request: its type and its further fields as JSON text without
 * braces ("\"command\":\"make\""), "" for none. *ret_id names it from now on. */
PERCH_SDK_API perch_plugin_status perch_plugin_send(
	perch_plugin *plugin, const char *type, const char *fields, unsigned long *ret_id);

/* Waits for the answer to that request, once; answers to others are kept for
 * their own wait. *ret_json is its value as JSON text; the caller frees it. */
PERCH_SDK_API perch_plugin_status perch_plugin_wait(
	perch_plugin *plugin, unsigned long id, char **ret_json);

/* ---- being cancelled ----------------------------------------------------- */

/* Called, from whatever function is waiting, for every cancel of the host. */
typedef void perch_plugin_cancel_fn(void *data, const char *reason);
PERCH_SDK_API void perch_plugin_on_cancel(
	perch_plugin *plugin, perch_plugin_cancel_fn *cancelled, void *data);

/* Looks whether the host has said something, without waiting. CANCELLED when the
 * run is to end; for programs that work for a long time without asking. */
PERCH_SDK_API perch_plugin_status perch_plugin_poll(perch_plugin *plugin);

/* The reason of the last cancel ("user_interrupt", "timeout" …), "" = none. */
PERCH_SDK_API const char *perch_plugin_cancel_reason(const perch_plugin *plugin);

#ifdef __cplusplus
}
#endif

#endif
