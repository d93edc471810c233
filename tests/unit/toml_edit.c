#include "harness/suite.h"
START_TEST(nothing){} END_TEST
SUITE_MAIN("toml", nothing)
