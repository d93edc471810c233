/* Any bytes as the configuration of a client, JSON or TOML by the first byte: no crash; an error
 * has words, and what is read is whole. */
#include "fuzz.h"

#include "cli/tool/client_servers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	struct client_servers servers = { 0 };
	perch_err err = { 0 };
	if (!size)
		return 0;
	const struct str text = { (const char *)data + 1, size - 1 };
	int r = data[0] & 1 ? client_servers_read_json(text, &arena, &servers, &err)
						: client_servers_read_toml(text, &arena, &servers, &err);
	check(r == 0 || (err.code == r && err.text[0]));
	for (size_t i = 0; r == 0 && i < servers.count; i++) {
		const struct client_server *server = &servers.items[i];
		struct str variable;
		size_t value;
		check(server->name && server->command && server->url);
		for (const char *const *word = server->args; *word; word++)
			client_secret_option(*word, &value);
		for (const char *const *pair = server->env; *pair; pair++)
			client_is_placeholder(*pair, &variable);
	}
	arena_free(&arena);
	return 0;
}
