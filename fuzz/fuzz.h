/* What the fuzz targets share. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A promise: an input that breaks it is a finding. */
static inline void check(bool holds)
{
	if (!holds)
		abort();
}

#endif
