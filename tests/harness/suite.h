/* What every unit test shares: Check with TAP on stdout, one process a test. */
#ifndef HARNESS_SUITE_H
#define HARNESS_SUITE_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/macros.h"

/* Whether AddressSanitizer is compiled in, which gcc and clang say differently. It costs memory
 * and time of its own. */
#ifdef __has_feature
#define UNDER_ASAN __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN 1
#else
#define UNDER_ASAN 0
#endif

int suite_run(const char *name, const TTest *const *tests, size_t count);

/* Defines main: SUITE_MAIN("base", first_test, second_test, …).
 * TEST_ONLY=first_test in the environment runs that one alone. */
#define SUITE_MAIN(name, ...)                         \
	int main(void)                                    \
	{                                                 \
		const TTest *const tests[] = { __VA_ARGS__ }; \
		return suite_run(name, tests, COUNT(tests));  \
	}

/* Ends the test as skipped, with a reason: for what the machine does not
 * have. With CI=true that is a failure. */
_Noreturn void suite_skip(const char *reason);

/* The folder of public test data beside the project, or NULL when it is not
 * there: `name` is a folder below it. */
const char *suite_data(const char *name);

#endif
