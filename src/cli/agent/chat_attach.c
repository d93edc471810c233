/* What is attached to messages of a conversation: files and addresses that the user names, for the
 * next message; and once more, when the last message is sent again. */
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent/profile.h"
#include "base/err.h"
#include "base/macros.h"
#include "cli/agent/chat.h"

static const size_t chat_attach_lists[] = {
	offsetof(struct agent_words, images),
	offsetof(struct agent_words, files),
	offsetof(struct agent_words, audios),
	offsetof(struct agent_words, videos),
};

static struct option_list *chat_attach_list(struct agent_words *words, size_t i)
{
	return (struct option_list *)((char *)words + chat_attach_lists[i]);
}

/* ---- all of it ------------------------------------------------------------------- */

bool chat_attach_any(const struct agent_words *words)
{
	bool is_any = false;
	for (size_t i = 0; i < COUNT(chat_attach_lists); i++)
		is_any = is_any || chat_attach_list((struct agent_words *)words, i)->count;
	return is_any;
}

void chat_attach_forget(struct agent_words *words)
{
	for (size_t i = 0; i < COUNT(chat_attach_lists); i++)
		*chat_attach_list(words, i) = (struct option_list){ 0 };
}

void chat_attach_free(struct agent_words *words)
{
	for (size_t i = 0; i < COUNT(chat_attach_lists); i++)
		free(chat_attach_list(words, i)->items);
	chat_attach_forget(words);
}

int chat_attach_copy(const struct agent_words *from, struct agent_words *to, struct arena *arena)
{
	for (size_t i = 0; i < COUNT(chat_attach_lists); i++) {
		const struct option_list *list = chat_attach_list((struct agent_words *)from, i);
		for (size_t k = 0; k < list->count; k++) {
			const char *url = arena_dup(arena, str_from(list->items[k]));
			if (!url || options_add(chat_attach_list(to, i), url))
				return -ENOMEM;
		}
	}
	return 0;
}

/* ---- one of the user's ------------------------------------------------------------- */

static struct option_list *chat_attach_list_for(struct agent_words *words, const char *path)
{
	static const struct {
		const char *suffix;
		size_t list; /* in struct agent_words */
	} kinds[] = {
		{ ".png", offsetof(struct agent_words, images) },
		{ ".jpg", offsetof(struct agent_words, images) },
		{ ".jpeg", offsetof(struct agent_words, images) },
		{ ".gif", offsetof(struct agent_words, images) },
		{ ".webp", offsetof(struct agent_words, images) },
		{ ".mp3", offsetof(struct agent_words, audios) },
		{ ".wav", offsetof(struct agent_words, audios) },
		{ ".ogg", offsetof(struct agent_words, audios) },
		{ ".mp4", offsetof(struct agent_words, videos) },
		{ ".webm", offsetof(struct agent_words, videos) },
	};
	const char *suffix = strrchr(path, '.');
	for (size_t i = 0; suffix && i < COUNT(kinds); i++) {
		if (strcasecmp(suffix, kinds[i].suffix) == 0)
			return (struct option_list *)((char *)words + kinds[i].list);
	}
	return &words->files;
}

/* A path becomes an address; NULL = the file is not there, errno says why. */
static const char *chat_attach_url(struct arena *arena, const char *word)
{
	char full[PATH_MAX];
	const char *home = getenv("HOME");
	if (strstr(word, "://"))
		return arena_dup(arena, str_from(word));
	if (profile_is_home(word) && home && home[0])
		word = arena_join(arena, home, word + 1, NULL);
	errno = ENOMEM;
	return word && realpath(word, full) ? arena_join(arena, "file://", full, NULL) : NULL;
}

void chat_attach(struct chat *chat, const char *word)
{
	char text[PATH_MAX + 64];
	const char *url = chat_attach_url(&chat->attached, word);
	if (!url) {
		snprintf(text, sizeof(text), "%.200s: %s", word, perch_strerror(-errno));
		chat_show_note(chat, "error", str_from(text));
		return;
	}
	if (options_add(chat_attach_list_for(&chat->words, word), url)) {
		chat_show_note(chat, "error", STR("out of memory"));
		return;
	}
	const char *path = strncmp(url, "file://", 7) == 0 ? url + 7 : url;
	snprintf(text, sizeof(text), "attached to the next message: %s", path);
	chat_show_note(chat, NULL, str_from(text));
}
