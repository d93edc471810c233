/* What a job needs of a worker. */
#include "queue/need.h"

#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/sha256.h"

enum { NEED_PROFILE_MAX = 1024 * 1024 };

static void need_hash_text(struct hmac *hmac, const char *text)
{
	hmac_add_field(hmac, text ? text : "", text ? strlen(text) : 0);
}

int need_hash(const perch_entry *entry, char ret_hash[NEED_HASH_SIZE], perch_err *err)
{
	const char *texts[] = { entry->name, entry->description, entry->input_schema,
		entry->output_schema, entry->annotations, entry->arguments };
	_cleanup_(buf_free) struct buf profile = { 0 };
	char hex[SHA256_HEX_SIZE];
	struct hmac hmac;
	hmac_begin(&hmac, "perch", 5);
	if (entry->kind == PERCH_ENTRY_AGENT) {
		int r = file_read(entry->owner, NEED_PROFILE_MAX, &profile, err);
		if (r < 0)
			return r;
		hmac_add_field(&hmac, profile.data, profile.len);
	} else {
		for (size_t i = 0; i < COUNT(texts); i++)
			need_hash_text(&hmac, texts[i]);
	}
	hmac_end(&hmac, hex);
	memcpy(ret_hash, hex, NEED_HASH_SIZE - 1);
	ret_hash[NEED_HASH_SIZE - 1] = '\0';
	return 0;
}

char *need_write(perch_entry_kind kind, const char *name, const char *hash, const char *label)
{
	bool has_label = label && label[0];
	return str_join(perch_entry_kind_name(kind), ":", name, "#", hash, has_label ? "@" : "",
		has_label ? label : "", NULL);
}

static bool need_skip(struct str *text, struct str word)
{
	if (!str_has_prefix(*text, word))
		return false;
	*text = (struct str){ text->data + word.len, text->len - word.len };
	return true;
}

bool need_is_of(struct str need, perch_entry_kind kind, struct str name)
{
	return need_skip(&need, str_from(perch_entry_kind_name(kind))) && need_skip(&need, STR(":")) &&
		need_skip(&need, name) && need_skip(&need, STR("#"));
}

bool need_is_met(struct str need, struct str offer)
{
	const char *mark = need.len ? memrchr(need.data, '#', need.len) : NULL;
	if (str_eq(need, offer) || !mark)
		return str_eq(need, offer);
	size_t before = (size_t)(mark + 1 - need.data);
	struct str end = { mark + 1, need.len - before };
	while (end.len && end.data[0] != '@')
		end = (struct str){ end.data + 1, end.len - 1 };
	return need_skip(&offer, (struct str){ need.data, before }) && need_skip(&offer, STR("*")) &&
		str_eq(offer, end);
}

bool need_is_label(struct str text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];
		bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
		if (!is_letter && !(c >= '0' && c <= '9') && c != '-' && c != '_')
			return false;
	}
	return text.len && text.len <= NEED_LABEL_MAX;
}
