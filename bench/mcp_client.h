/* A client of an MCP server that it starts, through pipes; for benchmarks, which end where
 * something is wrong. */
#ifndef BENCH_MCP_CLIENT_H
#define BENCH_MCP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

enum { PATH_SIZE = 4096 };

struct client {
	pid_t pid;
	FILE *out, *in;
	char *line; /* that was heard last */
	size_t size;
};

void client_must(bool is_fine, const char *what);
void client_start(struct client *client, const char *const *argv);
void client_end(struct client *client);

/* A line; it is on its way when the answer is waited for. */
void client_say(struct client *client, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The next line; false at the end. */
bool client_hear(struct client *client);

/* Waits for the result with an id, written as it ends in the answer. */
void client_hear_answer(struct client *client, const char *id);
void client_greet(struct client *client);
void client_list(struct client *client);

/* The most memory that a process has had. */
long client_resident_kib(pid_t pid);

/* Where `tests/foreign/install` has put a set; NULL = nowhere. */
const char *client_find_set(const char *set, char *path, size_t size);

#endif
