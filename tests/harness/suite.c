/* What every unit test shares. */
#include "harness/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Generous: a loaded two-core machine under a sanitizer is slow, and a test
 * that hangs must still end. */
static const double TIMEOUT_SECONDS = 120;

int suite_run(const char *name, const TTest *const *tests, size_t count)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	Suite *suite = suite_create(name);
	const char *only = getenv("TEST_ONLY");
	for (size_t i = 0; i < count; i++) {
		if (only && strcmp(only, tests[i]->name) != 0)
			continue;
		TCase *tcase = tcase_create(tests[i]->name);
		tcase_set_timeout(tcase, TIMEOUT_SECONDS);
		tcase_add_test(tcase, tests[i]);
		suite_add_tcase(suite, tcase);
	}
	SRunner *runner = srunner_create(suite);
	srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* The runner counts these lines; Check itself knows no skipped tests. */
_Noreturn void suite_skip(const char *reason)
{
	dprintf(STDOUT_FILENO, "# skipped: %s\n", reason);
	const char *ci = getenv("CI");
	bool is_ci = ci && strcmp(ci, "true") == 0;
	_exit(is_ci ? EXIT_FAILURE : EXIT_SUCCESS);
}

const char *suite_data(const char *name)
{
	static char path[4096];
	const char *root = getenv("PERCH_TEST_DATA");
	if (!root)
		return NULL;
	snprintf(path, sizeof(path), "%s/%s", root, name);
	return access(path, R_OK) == 0 ? path : NULL;
}
