/* ACP: the blocks that a message of the user consists of. */
#ifndef WIRE_ACP_PROMPT_H
#define WIRE_ACP_PROMPT_H

#include "base/arena.h"
#include "data/json.h"

enum { ACP_BLOCKS_MAX = 1024 };

enum acp_block_kind {
	ACP_TEXT,     /* text */
	ACP_LINK,     /* uri, name */
	ACP_RESOURCE, /* uri, and text or data */
	ACP_IMAGE,    /* data, type, perhaps a uri */
	ACP_AUDIO,    /* data, type */
};

struct acp_block {
	enum acp_block_kind kind;
	struct str text;
	struct str data; /* base64 */
	struct str type; /* of media */
	struct str uri;
	struct str name;
};

/* Reads a list of blocks, which lives in the arena and points into the document. -EINVAL and words
 * with the place, -ENOMEM. */
int acp_prompt_read(const perch_json_value *prompt, struct arena *arena,
	struct acp_block **ret_blocks, size_t *ret_count, perch_err *err);

#endif
