/* A gateway to be measured, and a client of it. */
#ifndef BENCH_GATEWAY_H
#define BENCH_GATEWAY_H

#include <stdbool.h>
#include <sys/types.h>

/* The one that is asked. */
struct gateway {
	char token[128];
	unsigned port;
	pid_t pid;
	bool is_polling; /* the client asks again and again, and never sleeps */
};

extern struct gateway gateway;
extern char gateway_perch[2100]; /* the path of the program */

/* Starts `perch serve` with the agents bot, which answers at once, and stay, which does not. */
void gateway_open(void);

/* Whether somebody listens there. */
bool gateway_listens(void);

/* A connection to it. */
int gateway_connect(void);

/* Sends a request: "GET /path", more fields, a body. */
void gateway_ask(int fd, const char *line, const char *more, const char *body);

/* Reads until this has come. */
void gateway_await(int fd, const char *text);

/* A chat beside LiteLLM, where that is installed: gateway_rival.c. */
void gateway_bench_rival(void);

#endif
