/* perch mcp connect: puts perch into the configuration of a client. What would change is shown, and
 * asked about; the file is replaced as a whole. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/replace.h"
#include "cli/mcp/mcp_commands.h"
#include "cli/ui/console.h"

enum { CONNECT_FILE_MAX = 64 * 1024 * 1024, CONNECT_WORDS_MAX = 8, CONNECT_AROUND = 2 };

struct connection {
	const struct mcp_client_file *client;
	struct arena arena;
	const char *path;  /* of its configuration, links followed */
	bool is_there;     /* the file */
	mode_t mode;       /* its mode */
	struct buf before; /* its text */
	struct buf after;
	const char *command[CONNECT_WORDS_MAX];
};

static void connect_free(struct connection *connection)
{
	buf_free(&connection->before);
	buf_free(&connection->after);
	arena_free(&connection->arena);
}

/* ---- what to write and where ----------------------------------------------- */

/* Clients pass on few variables: what XDG_CONFIG_HOME says here must be said to the server. */
static int connect_make_command(struct connection *connection, perch_err *err)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path));
	const char *config = getenv("XDG_CONFIG_HOME");
	if (len < 0 || (size_t)len == sizeof(path))
		return err_set(err, -ENOENT, "the path of perch itself is not known");
	size_t count = 0;
	connection->command[count++] = arena_dup(&connection->arena, (struct str){ path, (size_t)len });
	connection->command[count++] = "mcp";
	if (config && config[0] == '/') {
		connection->command[count++] = "--config";
		connection->command[count++] = arena_dup(&connection->arena, str_from(config));
	}
	for (size_t i = 0; i < count; i++)
		if (!connection->command[i])
			return err_no_memory(err);
	return 0;
}

static int connect_find_path(struct connection *connection, perch_err *err)
{
	const char *below = connection->client->path, *home = getenv("HOME");
	_cleanup_free_ char *user = NULL, *resolved = NULL;
	if (strncmp(below, ".config/", 8) == 0) {
		int r = paths_user(PATH_CONFIG, below + 8, &user, err);
		if (r < 0)
			return r;
	} else if (!home || home[0] != '/') {
		return err_set(err, -ENOENT,
			"HOME is not set: where %s keeps its configuration is not known",
			connection->client->title);
	} else {
		char *joined = arena_join(&connection->arena, home, "/", below, NULL);
		user = joined ? strdup(joined) : NULL;
	}
	resolved = user ? realpath(user, NULL) : NULL; /* a link stays a link */
	connection->path =
		user ? arena_dup(&connection->arena, str_from(resolved ? resolved : user)) : NULL;
	return connection->path ? 0 : err_no_memory(err);
}

static int connect_read(const struct connection *connection, struct buf *text, perch_err *err)
{
	buf_clear(text);
	int r = file_read(connection->path, CONNECT_FILE_MAX, text, err);
	return r == -ENOENT ? 0 : r;
}

static int connect_edit(struct connection *connection, perch_err *err)
{
	struct stat is;
	perch_err inner = { 0 };
	int r = connect_read(connection, &connection->before, err);
	if (r < 0)
		return r;
	connection->is_there = stat(connection->path, &is) == 0;
	connection->mode = connection->is_there ? is.st_mode & 07777 : 0600;
	const struct str text = { connection->before.data ? connection->before.data : "",
		connection->before.len };
	r = mcp_client_edit(connection->client, text, connection->command, &connection->after, &inner);
	return r < 0 ? err_set(err, r, "%s: %s", connection->path, inner.text) : r;
}

/* ---- the difference -------------------------------------------------------- */

/* How many bytes of whole lines both texts begin with. */
static size_t connect_common_start(struct str a, struct str b)
{
	size_t common = 0;
	for (size_t i = 0; i < a.len && i < b.len && a.data[i] == b.data[i]; i++)
		if (a.data[i] == '\n')
			common = i + 1;
	return common;
}

static size_t connect_common_end(struct str a, struct str b)
{
	size_t common = 0;
	for (size_t i = 1; i <= a.len && i <= b.len && a.data[a.len - i] == b.data[b.len - i]; i++)
		if (i == a.len || i == b.len || a.data[a.len - i - 1] == '\n')
			common = a.len - i == 0 || a.data[a.len - i - 1] == '\n' ? i : common;
	return common;
}

static void connect_show_lines(const char *sign, struct str lines)
{
	while (lines.len) {
		const char *end = memchr(lines.data, '\n', lines.len);
		size_t len = end ? (size_t)(end - lines.data) : lines.len;
		fputs(sign, stderr);
		size_t tabs = 0; /* which would not be shown as such */
		for (; tabs < len && lines.data[tabs] == '\t'; tabs++)
			fputs("    ", stderr);
		cli_put_text(stderr, (struct str){ lines.data + tabs, len - tabs });
		fputc('\n', stderr);
		len += end ? 1 : 0;
		lines = (struct str){ lines.data + len, lines.len - len };
	}
}

/* The last lines of a text. */
static struct str connect_last_lines(struct str text, int count)
{
	size_t at = text.len;
	while (at && (text.data[at - 1] != '\n' || at == text.len || --count > 0))
		at--;
	return (struct str){ text.data + at, text.len - at };
}

static struct str connect_first_lines(struct str text, int count)
{
	size_t at = 0;
	while (at < text.len && count > 0)
		count -= text.data[at++] == '\n';
	return (struct str){ text.data, at };
}

/* One place has changed: what was there, what is there now, and a little around it. */
static void connect_show(const struct connection *connection)
{
	struct str old = { connection->before.data ? connection->before.data : "",
		connection->before.len };
	struct str new = { connection->after.data, connection->after.len };
	size_t start = connect_common_start(old, new);
	size_t end = connect_common_end((struct str){ old.data + start, old.len - start },
		(struct str){ new.data + start, new.len - start });
	cli_tell(stderr, "%s%s\n", connection->path, connection->is_there ? "" : " (new)");
	connect_show_lines("  ", connect_last_lines((struct str){ old.data, start }, CONNECT_AROUND));
	connect_show_lines("- ", (struct str){ old.data + start, old.len - end - start });
	connect_show_lines("+ ", (struct str){ new.data + start, new.len - end - start });
	connect_show_lines(
		"  ", connect_first_lines((struct str){ old.data + old.len - end, end }, CONNECT_AROUND));
}

/* ---- writing --------------------------------------------------------------- */

static int connect_make_folder(const struct connection *connection, perch_err *err)
{
	_cleanup_free_ char *folder = strdup(connection->path);
	if (!folder)
		return err_no_memory(err);
	*strrchr(folder, '/') = '\0';
	return paths_make(folder, err);
}

/* The client may have written meanwhile: what it wrote is not lost. */
static int connect_write(struct connection *connection, perch_err *err)
{
	_cleanup_(buf_free) struct buf now = { 0 };
	int r = connect_make_folder(connection, err);
	if (r == 0)
		r = connect_read(connection, &now, err);
	if (r < 0)
		return r;
	if (now.len != connection->before.len ||
		(now.len && memcmp(now.data, connection->before.data, now.len) != 0))
		return err_set(err, -EBUSY, "%s was changed meanwhile: try again", connection->path);
	r = replace_path(
		connection->path, (struct str){ connection->after.data, connection->after.len });
	if (r == 0 && chmod(connection->path, connection->mode) < 0)
		r = -errno;
	return r < 0 ? err_set(err, r, "%s: %s", connection->path, perch_strerror(r)) : 0;
}

/* ---- the verb -------------------------------------------------------------- */

static int connect_agree(struct cli *cli, bool yes, perch_err *err)
{
	struct console console;
	if (yes)
		return 1;
	int r = console_open(&console, cli, err);
	if (r < 0)
		return r;
	r = console_confirm(&console, "Write it?");
	console_close(&console);
	if (r == -ENOTTY)
		return err_set(err, r, "nobody can be asked here: --yes writes it, --print shows it");
	return r;
}

static int connect_print(struct connection *connection)
{
	struct buf out = { 0 };
	perch_err err = { 0 };
	if (mcp_client_edit(connection->client, STR(""), connection->command, &out, &err) < 0) {
		cli_error(NULL, "%s", err.text);
		return EXIT_HOST;
	}
	return cli_print(&out);
}

static int connect_do(struct cli *cli, struct connection *connection, bool yes, perch_err *err)
{
	int r = connect_find_path(connection, err);
	if (r == 0)
		r = connect_edit(connection, err);
	if (r <= 0) {
		if (r == 0)
			cli_tell(
				stderr, "%s has it already: %s\n", connection->client->title, connection->path);
		return r;
	}
	connect_show(connection);
	r = connect_agree(cli, yes, err);
	if (r == 0 || r == -ECANCELED) {
		fputs("Nothing was written.\n", stderr);
		return 1;
	}
	if (r > 0)
		r = connect_write(connection, err);
	if (r == 0)
		cli_tell(stderr, "Written. Now: %s.\n", connection->client->then);
	return r;
}

static const char *connect_name_at(const void *data, size_t i)
{
	(void)data;
	return mcp_client_files[i].name;
}

/* name: NULL = none was given. */
static int connect_refuse(const char *name)
{
	const char *near = name ? cli_nearest(name, connect_name_at, NULL) : NULL;
	_cleanup_(buf_free) struct buf hint = { 0 };
	buf_append_text(&hint, near ? "did you mean: perch mcp connect " : "there are: ");
	if (near)
		buf_append_text(&hint, near);
	for (size_t i = 0; !near && connect_name_at(NULL, i); i++)
		buf_printf(&hint, "%s%s", i ? ", " : "", connect_name_at(NULL, i));
	const char *words = buf_terminate(&hint) == 0 && !hint.failed ? hint.data : NULL;
	return name ? cli_usage_error(words, "perch knows no client '%s'", name)
				: cli_usage_error(words, "connect takes the name of one client");
}

static int connect_run(struct cli *cli, int argc, char **argv)
{
	_cleanup_(connect_free) struct connection connection = { 0 };
	bool prints = false, yes = false;
	const struct option_spec specs[] = {
		{ "print", 0, OPTION_FLAG, &prints },
		{ "yes", 0, OPTION_FLAG, &yes },
		{ 0 },
	};
	struct option_list words = { 0 };
	perch_err err = { 0 };
	int r = options_parse_words(specs, argc, argv, &words);
	const char *name = words.count == 1 ? words.items[0] : NULL;
	free(words.items);
	if (r == 0 && !name)
		r = connect_refuse(NULL);
	if (r)
		return r;
	connection.client = mcp_client_find(name);
	if (!connection.client)
		return connect_refuse(name);
	r = connect_make_command(&connection, &err);
	if (r == 0 && prints)
		return connect_print(&connection);
	if (r == 0)
		r = connect_do(cli, &connection, yes, &err);
	if (r < 0)
		cli_error(NULL, "%s", err.text);
	return r < 0 ? EXIT_HOST : r;
}

const struct command mcp_verb_connect = {
	.name = "connect",
	.summary = "put perch into the configuration of a client",
	.help = "usage: perch mcp connect CLIENT [--print] [--yes]\n"
			"\n"
			"Makes perch a server of an MCP client on this machine: claude-code,\n"
			"claude-desktop, cursor, vscode, codex, gemini, zed or windsurf. Shows what\n"
			"would change in the client's file, asks, and leaves the rest of it as it is,\n"
			"with its comments.\n"
			"\n"
			"  --print  print what is to be written, write nothing\n"
			"  --yes    do not ask\n"
			"\n"
			"example:\n"
			"  perch mcp connect claude-code\n",
	.run = connect_run,
};
