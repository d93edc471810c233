/* Switches of the environment for tests only: they make a sandbox weaker, or end the process at a
 * given point. A build without the option test_switches does not know them. */
#ifndef BASE_TEST_SWITCH_H
#define BASE_TEST_SWITCH_H

#include <stdlib.h>

#ifdef PERCH_TEST_SWITCHES
#define TEST_SWITCH(name) getenv(name)
#else
#define TEST_SWITCH(name) ((const char *)0)
#endif

#endif
