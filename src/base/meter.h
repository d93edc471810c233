/* How many bytes several buffers hold together, for a caller that bounds the sum. */
#ifndef BASE_METER_H
#define BASE_METER_H

#include <stddef.h>

/* `{0}` only counts. A pointer to a meter may be NULL everywhere. */
struct meter {
	size_t bytes;
	void (*grew)(void *data); /* after every growth; may be NULL */
	void *data;
};

static inline void meter_add(struct meter *meter, size_t bytes)
{
	if (!meter || !bytes)
		return;
	meter->bytes += bytes;
	if (meter->grew)
		meter->grew(meter->data);
}

static inline void meter_take(struct meter *meter, size_t bytes)
{
	if (meter)
		meter->bytes -= bytes;
}

#endif
