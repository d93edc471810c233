/* Any text as the address of a queue: no crash; what is accepted has a host or a path, no blanks,
 * and says the same when it is written and read again. */
#include "fuzz.h"

#include <string.h>

#include "queue/redis_url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct redis_url url, again;
	char text[700];
	perch_err err = { 0 };
	int r = redis_url_parse((struct str){ (const char *)data, size }, &url, &err);
	if (r < 0) {
		check(err.code == r && err.text[0]);
		return 0;
	}
	check(!url.host[0] != !url.path[0]);
	for (const char *c = url.host; *c; c++)
		check((unsigned char)*c > ' ');
	redis_url_write(&url, text, sizeof(text));
	check(redis_url_parse(str_from(text), &again, &err) == 0);
	check(strcmp(url.host, again.host) == 0 && strcmp(url.path, again.path) == 0);
	check(url.port == again.port && url.database == again.database);
	return 0;
}
