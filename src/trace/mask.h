/* Which parts of a line between host and plugin must stay private: stored values and the values of
 * the environment; and of what an agent is told: those of its MCP servers. */
#ifndef TRACE_MASK_H
#define TRACE_MASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "perch/json.h"

enum { MASK_IDS_MAX = 256 };

/* Requests that wait for their answer, by id. Ids repeat: as long as one of
 * those with the same id is a load, an answer may be the stored value. */
struct mask_id {
	uint64_t hash;
	unsigned waiting;
	bool has_load;
};

struct mask {
	perch_json *json;
	struct mask_id ids[MASK_IDS_MAX];
	size_t id_count;
	bool lost_track; /* more ids than fit: every answer may be a stored value */
};

/* 0 or -ENOMEM. mask_free is fine for a mask of zeros. */
int mask_init(struct mask *mask);
void mask_free(struct mask *mask);

/* Puts the line into *copy (whose content is forgotten) with stars over what is
 * secret: as many as it had bytes, so that lengths stay. Returns 1 when there
 * was something, 0 when not, -ENOMEM. The lines of a run must come in order. */
int mask_line(struct mask *mask, bool is_from_plugin, struct str line, struct buf *copy);

/* Puts stars over what a note of the host quotes of a line that may hold a value. Returns whether
 * it quotes any. */
bool mask_words(char *words, size_t len);

/* As mask_line, for what an agent is told, ACP or AgentProc: the values of the variables and
 * headers of MCP servers. */
int mask_servers(struct mask *mask, struct str line, struct buf *copy);

/* As mask_line, for the value of an answer before the line is made: a text may have been stored, an
 * object may hold the environment. */
int mask_value(struct mask *mask, struct str json, struct buf *copy);

#endif
