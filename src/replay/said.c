/* What a host has said in a replay and was not compared yet. */
#include "replay/replay_player.h"

#include <errno.h>
#include <stdlib.h>

int said_add(struct said *said, struct str event, struct str text)
{
	if (text.len > SAID_BYTES_MAX - said->bytes)
		return -EINVAL;
	struct saying *saying = malloc(sizeof(*saying) + event.len + text.len);
	if (!saying)
		return -ENOMEM;
	char *place = (char *)(saying + 1);
	if (event.len)
		memcpy(place, event.data, event.len);
	if (text.len)
		memcpy(place + event.len, text.data, text.len);
	*saying = (struct saying){
		.event = { place, event.len },
		.text = { place + event.len, text.len },
	};
	if (said->last)
		said->last->next = saying;
	else
		said->first = saying;
	said->last = saying;
	said->bytes += text.len;
	return 0;
}

struct saying *said_take(struct said *said)
{
	struct saying *saying = said->first;
	if (!saying)
		return NULL;
	said->first = saying->next;
	if (!said->first)
		said->last = NULL;
	said->bytes -= saying->text.len;
	return saying;
}

void said_free(struct said *said)
{
	for (struct saying *saying; (saying = said_take(said));)
		free(saying);
}
