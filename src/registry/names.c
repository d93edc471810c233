/* Which names a plugin and its commands may have. */
#include "registry/names.h"

#include <string.h>

#include "base/utf8.h"

/* Characters that neither a name nor a path may have. */
static const char *names_text_problem(struct str text)
{
	if (text.len == 0)
		return "must not be empty";
	if (!utf8_is_valid(text.data, text.len))
		return "must be UTF-8";
	return utf8_is_seen(text.data, text.len) ? NULL : "must not contain control characters";
}

/* Names become words on a command line, typed and completed: a shell must not give any character of
 * them a meaning. */
static bool names_is_plain_name(struct str name)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+:@";
	for (size_t i = 0; i < name.len; i++) {
		unsigned char c = (unsigned char)name.data[i];
		if (c < 0x80 && !memchr(plain, c, sizeof(plain) - 1))
			return false;
	}
	return true;
}

const char *version_problem(struct str version)
{
	const char *problem = names_text_problem(version);
	return problem ? problem : version.len > NAME_LENGTH_MAX ? "is too long" : NULL;
}

const char *command_name_problem(struct str name)
{
	const char *problem = names_text_problem(name);
	if (problem)
		return problem;
	if (memchr(name.data, '/', name.len))
		return "must not contain a slash";
	if (name.data[0] == '-' || name.data[0] == '.')
		return "must not begin with - or .";
	if (!names_is_plain_name(name))
		return "must be of letters, digits and - _ . + : @ alone";
	return name.len > NAME_LENGTH_MAX ? "is too long" : NULL;
}

const char *plugin_name_problem(struct str name)
{
	if (str_is(name, "bin"))
		return "is taken: the links to all commands lie in bin";
	return command_name_problem(name);
}

const char *binary_problem(struct str path)
{
	const char *problem = names_text_problem(path);
	if (problem)
		return problem;
	if (path.data[0] == '/')
		return "must be relative to the plugin";
	struct str last = { 0 };
	struct str rest = path;
	for (bool is_more = true; is_more;) {
		is_more = memchr(rest.data, '/', rest.len);
		last = str_cut(&rest, '/');
		if (str_is(last, ".."))
			return "must stay inside the plugin, without ..";
	}
	return last.len == 0 || str_is(last, ".") ? "must name a file" : NULL;
}
