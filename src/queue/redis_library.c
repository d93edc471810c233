/* The functions of queue/lua: what is known of the library is read from its own text. */
#include "queue/redis_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"

extern const struct embedded redis_functions[]; /* made by tools/embed.py */

enum { REDIS_SCRIPT_MAX = 64 * 1024 };

long redis_library_revision(void)
{
	static const char name[] = "local REVISION = ";
	const char *line = strstr(redis_functions[0].text, name);
	return line ? strtol(line + sizeof(name) - 1, NULL, 10) : 0;
}

struct str redis_library_functions(void)
{
	return str_from(redis_functions[0].text);
}

/* A script has another first line. */
struct str redis_library_script(bool is_spare)
{
	static char texts[2][REDIS_SCRIPT_MAX];
	char *text = texts[is_spare];
	const char *rest = strchr(redis_functions[0].text, '\n');
	if (!text[0])
		snprintf(text, REDIS_SCRIPT_MAX, "#!lua%s%s", is_spare ? " flags=allow-oom" : "", rest);
	return str_from(text);
}

bool redis_library_is_spare(const char *function)
{
	const char *list = strstr(redis_functions[0].text, "\nregister('allow-oom', {");
	const char *end = list ? strchr(list, '}') : NULL;
	char quoted[64];
	snprintf(quoted, sizeof(quoted), "'%s'", function);
	const char *found = list ? strstr(list, quoted) : NULL;
	return found && found < end;
}
