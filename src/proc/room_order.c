/* What a doorkeeper is told, as it stands in the page. */
#include <string.h>

#include "guard/door_page.h"
#include "guard/mark.h"
#include "proc/room_parts.h"

/* What is left of the page's places; a text that finds none is noted. */
struct order_writer {
	struct door_page *page;
	size_t text_len;
	bool is_full;
};

static uint32_t room_order_add_text(struct order_writer *writer, const char *text)
{
	size_t size = text ? strlen(text) + 1 : 0;
	size_t at = writer->text_len;
	writer->is_full |= size > DOOR_TEXT_MAX - at;
	if (!size || writer->is_full)
		return 0;
	memcpy(writer->page->text + at, text, size);
	writer->text_len += size;
	return (uint32_t)at;
}

static void room_order_add_words(struct order_writer *writer, const char *const *words)
{
	struct door_page *page = writer->page;
	for (; *words && !writer->is_full; words++) {
		writer->is_full |= page->word_count == DOOR_WORDS_MAX;
		if (!writer->is_full)
			page->words[page->word_count++] = room_order_add_text(writer, *words);
	}
}

static void room_order_add_limit(
	struct order_writer *writer, int resource, uint64_t now, uint64_t most)
{
	struct door_page *page = writer->page;
	writer->is_full |= page->limit_count == DOOR_LIMITS_MAX;
	if (!writer->is_full)
		page->limits[page->limit_count++] = (struct door_limit){ resource, { now, most } };
}

static void room_order_write_limits(struct order_writer *writer, const struct spawn_plan *plan)
{
	writer->page->limit_count = 0;
	if (plan->mark)
		room_order_add_limit(writer, MARK_RESOURCE, plan->mark->now, plan->mark->most);
	if (plan->open_files)
		room_order_add_limit(
			writer, RLIMIT_NOFILE, plan->open_files->rlim_cur, plan->open_files->rlim_max);
	for (size_t i = 0; i < plan->confine->limit_count; i++) {
		const struct confine_limit *limit = &plan->confine->limits[i];
		room_order_add_limit(writer, limit->resource, limit->value.rlim_cur, limit->value.rlim_max);
	}
}

static void room_order_write_seal(struct order_writer *writer, const struct sock_fprog *seal)
{
	writer->is_full |= seal->len > DOOR_SEAL_MAX;
	if (writer->is_full)
		return;
	writer->page->seal_count = seal->len;
	memcpy(writer->page->seal, seal->filter, seal->len * sizeof(*seal->filter));
}

bool room_order_write(struct door_page *page, const struct spawn_plan *plan)
{
	struct order_writer writer = { .page = page, .text_len = 1 };
	page->channel = CONFINE_CHANNEL;
	page->own_session = plan->own_session;
	page->dies_with_parent = plan->die_with_thread;
	page->until_ns = plan->until_ns;
	room_order_write_limits(&writer, plan);
	room_order_write_seal(&writer, plan->confine->seal);
	page->path = room_order_add_text(&writer, plan->path);
	page->here = room_order_add_text(&writer, plan->here);
	page->cwd = room_order_add_text(&writer, plan->cwd);
	page->word_count = 0;
	room_order_add_words(&writer, plan->argv);
	page->argument_count = page->word_count;
	room_order_add_words(&writer, plan->env);
	return !writer.is_full;
}
