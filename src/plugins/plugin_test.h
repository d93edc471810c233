/* Testing a plugin: one case of its perch-test.toml, in a workspace of its own, with every line
 * checked. */
#ifndef PLUGINS_PLUGIN_TEST_H
#define PLUGINS_PLUGIN_TEST_H

#include "frontend.h"
#include "perch/host.h"
#include "plugins/cases.h"
#include "plugins/transcript.h"

struct plugin_test_options {
	const char *directory; /* the plugin's, resolved */
	const struct manifest *manifest;
	const struct test_case *test;
	const char *const *env; /* of the host */
	const char *config;     /* CFG: hidden from the plugin */
};

struct test_report {
	/* The findings; those with a line are about what the plugin wrote there. Without an error the
	 * case has passed. */
	struct findings findings;
	struct transcript transcript;
	struct str output;
	int exit_code;
	int signal; /* that killed the plugin; 0 = none */
	uint64_t duration_ns;
	bool is_interrupted; /* by plugin_test_interrupt: it says nothing about the plugin */
};

struct plugin_test;

/* Begins. options and what it points to must outlive the test. A plugin that cannot be started is a
 * test that fails, at once; an error is returned where no test is possible (no temporary directory,
 * no memory). */
int plugin_test_start(perch_host *host, const struct plugin_test_options *options,
	struct plugin_test **ret_test, perch_err *err);

/* Ends it now. */
void plugin_test_interrupt(struct plugin_test *test);

/* NULL until everything is over. */
const struct test_report *plugin_test_report(struct plugin_test *test);

/* Ends what is left of it, and removes its files. NULL is fine. */
void plugin_test_free(struct plugin_test *test);

#endif
