/* ACP: the blocks of a message. */
#include "wire/acp_prompt.h"

#include <errno.h>

#include "base/err.h"
#include "base/macros.h"
#include "data/json_member.h"

/* What a kind has, by the names of its members. */
struct acp_member {
	const char *name;
	size_t offset;
	bool is_needed;
};

#define ACP_MEMBER(name, member, is_needed)                 \
	{                                                       \
		name, offsetof(struct acp_block, member), is_needed \
	}

static const struct acp_kind {
	const char *type;
	enum acp_block_kind kind;
	struct acp_member members[4];
} acp_kinds[] = {
	{ "text", ACP_TEXT, { ACP_MEMBER("text", text, true) } },
	{ "resource_link", ACP_LINK, { ACP_MEMBER("uri", uri, true), ACP_MEMBER("name", name, true) } },
	{ "image", ACP_IMAGE,
		{ ACP_MEMBER("data", data, true), ACP_MEMBER("mimeType", type, true),
			ACP_MEMBER("uri", uri, false) } },
	{ "audio", ACP_AUDIO, { ACP_MEMBER("data", data, true), ACP_MEMBER("mimeType", type, true) } },
};

/* The inner object of a resource. */
static const struct acp_kind acp_resource = { "resource", ACP_RESOURCE,
	{ ACP_MEMBER("uri", uri, true), ACP_MEMBER("text", text, false),
		ACP_MEMBER("blob", data, false), ACP_MEMBER("mimeType", type, false) } };

static int acp_block_fill(struct acp_block *block, const struct acp_kind *kind,
	const perch_json_value *object, size_t at, perch_err *err)
{
	block->kind = kind->kind;
	for (size_t i = 0; i < COUNT(kind->members) && kind->members[i].name; i++) {
		const struct acp_member *member = &kind->members[i];
		const perch_json_value *value = NULL;
		perch_err inner = { 0 };
		int r = json_member_of(object, member->name, PERCH_JSON_STRING, &value, &inner);
		if (r < 0)
			return err_set(err, r, "prompt[%zu]: %s", at, inner.text);
		if (r == 0 && member->is_needed)
			return err_set(err, -EINVAL, "prompt[%zu] has no \"%s\"", at, member->name);
		if (r > 0)
			*(struct str *)((char *)block + member->offset) = json_str(value);
	}
	return 0;
}

static int acp_block_read(
	struct acp_block *block, const perch_json_value *value, size_t at, perch_err *err)
{
	const perch_json_value *type = perch_json_get(value, "type");
	*block = (struct acp_block){ 0 };
	for (size_t i = 0; i < COUNT(acp_kinds); i++) {
		if (perch_json_is(type, acp_kinds[i].type))
			return acp_block_fill(block, &acp_kinds[i], value, at, err);
	}
	if (!perch_json_is(type, acp_resource.type))
		return err_set(err, -EINVAL, "prompt[%zu] is no block of a type that is known", at);
	int r = acp_block_fill(block, &acp_resource, perch_json_get(value, "resource"), at, err);
	if (r == 0 && !block->text.data && !block->data.data)
		return err_set(err, -EINVAL, "prompt[%zu].resource has neither text nor blob", at);
	return r;
}

int acp_prompt_read(const perch_json_value *prompt, struct arena *arena,
	struct acp_block **ret_blocks, size_t *ret_count, perch_err *err)
{
	size_t count = perch_json_count(prompt), at = 0;
	if (perch_json_type_of(prompt) != PERCH_JSON_ARRAY)
		return err_set(err, -EINVAL, "prompt must be a list of blocks");
	if (count > ACP_BLOCKS_MAX)
		return err_set(err, -EINVAL, "prompt has more than %d blocks", (int)ACP_BLOCKS_MAX);
	struct acp_block *blocks = arena_alloc(arena, count * sizeof(*blocks));
	if (!blocks)
		return err_no_memory(err);
	perch_json_iter iter = perch_json_iterate(prompt);
	for (const perch_json_value *value; (value = perch_json_next(&iter)); at++) {
		int r = acp_block_read(&blocks[at], value, at, err);
		if (r < 0)
			return r;
	}
	*ret_blocks = blocks;
	*ret_count = count;
	return 0;
}
