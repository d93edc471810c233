/* Choosing from a list. */
#include "term/menu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"

enum { PAGE_BEFORE_DRAWING = 10 };

/* Keeps those of the found options that still match, in place. */
static void menu_find_among_found(struct menu *menu)
{
	struct str filter = menu_filter(menu);
	size_t candidate_count = menu->found_count;
	menu->found_count = 0;
	for (size_t i = 0; i < candidate_count; i++) {
		size_t option = menu->found[i];
		if (match_contains(str_of(menu->options[option]), filter))
			menu->found[menu->found_count++] = option;
	}
}

/* The cursor stays on its option as long as that is there. */
static void menu_place_cursor(struct menu *menu, size_t option)
{
	menu->at = 0;
	menu->top = 0;
	for (size_t i = 0; i < menu->found_count; i++) {
		if (menu->found[i] == option)
			menu->at = i;
	}
}

static size_t menu_option_under_cursor(const struct menu *menu)
{
	return menu->found_count ? menu->found[menu->at] : SIZE_MAX;
}

/* A filter that only became longer is searched for among what it had found before. */
static void menu_filter_again(struct menu *menu, bool is_narrower)
{
	size_t option = menu_option_under_cursor(menu);
	if (option == SIZE_MAX) /* nothing was found: what comes back is what was chosen before */
		option = menu->last;
	menu->last = option;
	if (!is_narrower) {
		for (size_t i = 0; i < menu->option_count; i++)
			menu->found[i] = i;
		menu->found_count = menu->option_count;
	}
	menu_find_among_found(menu);
	menu_place_cursor(menu, option);
}

int menu_init(struct menu *menu, const perch_text *options, size_t count, bool is_multiple)
{
	*menu = (struct menu){ .options = options, .page = PAGE_BEFORE_DRAWING };
	menu->found = calloc(count ? count : 1, sizeof(*menu->found));
	menu->marks = is_multiple ? calloc(count ? count : 1, sizeof(*menu->marks)) : NULL;
	if (!menu->found || (is_multiple && !menu->marks)) {
		menu_free(menu);
		return -ENOMEM;
	}
	menu->option_count = count;
	menu_filter_again(menu, false);
	return 0;
}

void menu_free(struct menu *menu)
{
	free(menu->found);
	free(menu->marks);
	buf_free(&menu->filter);
	*menu = (struct menu){ 0 };
}

void menu_go_to(struct menu *menu, size_t option)
{
	menu_place_cursor(menu, option);
}

void menu_mark(struct menu *menu, size_t option)
{
	if (menu->marks && option < menu->option_count)
		menu->marks[option] = true;
}

bool menu_clear_filter(struct menu *menu)
{
	if (!menu->filter.len)
		return false;
	buf_clear(&menu->filter);
	menu_filter_again(menu, false);
	return true;
}

/* Adds a character to the filter. One too many, or without memory, is ignored. */
static void menu_filter_add(struct menu *menu, uint32_t character)
{
	char encoded[UTF8_MAX];
	size_t length = utf8_encode(character, encoded);
	if (menu->filter.len + length > MENU_FILTER_MAX)
		return;
	if (buf_append(&menu->filter, encoded, length) < 0)
		menu->filter.failed = false;
	else
		menu_filter_again(menu, true);
}

static void menu_filter_remove(struct menu *menu)
{
	size_t len = menu->filter.len;
	if (!len)
		return;
	do
		len--;
	while (len && ((unsigned char)menu->filter.data[len] & 0xC0) == 0x80);
	menu->filter.len = len;
	menu_filter_again(menu, false);
}

/* Moves by so many; past an end it stays there, or comes in at the other. */
static void menu_move(struct menu *menu, size_t distance, bool is_up, bool comes_round)
{
	if (!menu->found_count)
		return;
	size_t last = menu->found_count - 1;
	size_t left = is_up ? menu->at : last - menu->at;
	size_t near_end = is_up ? 0 : last;
	if (distance <= left)
		menu->at = is_up ? menu->at - distance : menu->at + distance;
	else
		menu->at = comes_round ? last - near_end : near_end;
}

static bool menu_move_by_key(struct menu *menu, const struct key *key)
{
	if (key->code == KEY_UP || key_is_ctrl(key, 'p'))
		menu_move(menu, 1, true, true);
	else if (key->code == KEY_DOWN || key_is_ctrl(key, 'n'))
		menu_move(menu, 1, false, true);
	else if (key->code == KEY_PAGE_UP)
		menu_move(menu, menu->page, true, false);
	else if (key->code == KEY_PAGE_DOWN)
		menu_move(menu, menu->page, false, false);
	else if (key->code == KEY_HOME)
		menu_move(menu, SIZE_MAX, true, false);
	else if (key->code == KEY_END)
		menu_move(menu, SIZE_MAX, false, false);
	else
		return false;
	return true;
}

static bool menu_all_found_are_marked(const struct menu *menu)
{
	for (size_t i = 0; i < menu->found_count; i++) {
		if (!menu->marks[menu->found[i]])
			return false;
	}
	return true;
}

/* Marks all that match the filter, or takes their marks away. */
static void menu_toggle_all(struct menu *menu)
{
	bool mark = !menu_all_found_are_marked(menu);
	for (size_t i = 0; i < menu->found_count; i++)
		menu->marks[menu->found[i]] = mark;
}

static bool menu_mark_by_key(struct menu *menu, const struct key *key)
{
	if (key_is_ctrl(key, 'a'))
		menu_toggle_all(menu);
	else if (key_is_plain_text(key) && key->character == ' ' && menu->found_count)
		menu->marks[menu->found[menu->at]] ^= true;
	else
		return false;
	return true;
}

static bool menu_filter_by_key(struct menu *menu, const struct key *key)
{
	if (key_is_plain_text(key) && !(menu->marks && key->character == ' '))
		menu_filter_add(menu, key->character);
	else if (key->code == KEY_BACKSPACE && !(key->modifiers & KEY_ALT))
		menu_filter_remove(menu);
	else if (key_is_ctrl(key, 'u') || key_is_ctrl(key, 'w') || key->code == KEY_BACKSPACE)
		menu_clear_filter(menu);
	else
		return false;
	return true;
}

enum menu_step menu_key(struct menu *menu, const struct key *key)
{
	if (key->code == KEY_ENTER)
		return menu->marks || menu->found_count ? MENU_ACCEPTED : MENU_CHANGED;
	bool is_used = menu_move_by_key(menu, key) || (menu->marks && menu_mark_by_key(menu, key)) ||
		menu_filter_by_key(menu, key);
	return is_used ? MENU_CHANGED : MENU_UNUSED;
}

static void menu_draw_option(const struct menu *menu, struct frame *frame, size_t position)
{
	size_t option = menu->found[position];
	bool is_current = position == menu->at;
	frame_line(frame);
	if (is_current)
		frame_set_cursor(frame);
	if (is_current)
		frame_glyph(frame, STYLE_CURRENT, GLYPH_CURSOR);
	else
		frame_put(frame, STYLE_PLAIN, STR(" "));
	frame_put(frame, STYLE_PLAIN, STR(" "));
	if (menu->marks) {
		bool is_marked = menu->marks[option];
		frame_glyph(
			frame, is_marked ? STYLE_MARK : STYLE_HINT, is_marked ? GLYPH_MARKED : GLYPH_UNMARKED);
		frame_put(frame, STYLE_PLAIN, STR(" "));
	}
	frame_put(frame, is_current ? STYLE_CURRENT : STYLE_PLAIN, str_of(menu->options[option]));
}

/* "  11–20 of 300" */
static void menu_draw_position(const struct menu *menu, struct frame *frame, size_t end)
{
	char text[96];
	int length = snprintf(text, sizeof(text), "  %zu%s%zu of %zu", menu->top + 1,
		style_glyph(&frame->look, GLYPH_TO), end, menu->found_count);
	frame_line(frame);
	frame_put(frame, STYLE_HINT, (struct str){ text, (size_t)length });
}

/* Scrolls as little as needed, and not past the end of the list. */
static void menu_scroll(struct menu *menu)
{
	if (menu->at < menu->top)
		menu->top = menu->at;
	if (menu->at - menu->top >= menu->page)
		menu->top = menu->at - menu->page + 1;
	size_t latest = menu->found_count > menu->page ? menu->found_count - menu->page : 0;
	if (menu->top > latest)
		menu->top = latest;
}

void menu_draw(struct menu *menu, struct frame *frame, size_t rows)
{
	if (!menu->found_count) {
		frame_line(frame);
		frame_put(frame, STYLE_HINT, STR("  nothing matches"));
		return;
	}
	bool is_scrolled = menu->found_count > rows;
	menu->page = is_scrolled && rows > 1 ? rows - 1 : rows ? rows : 1;
	menu_scroll(menu);
	size_t end = menu->top;
	while (end < menu->found_count && end - menu->top < menu->page)
		menu_draw_option(menu, frame, end++);
	if (is_scrolled && rows > 1)
		menu_draw_position(menu, frame, end);
}

const size_t *menu_chosen(struct menu *menu, size_t *ret_count)
{
	if (!menu->marks) {
		*ret_count = menu->found_count ? 1 : 0;
		return menu->found + menu->at;
	}
	/* As long as the list of found options, which is not needed any more: the indexes are put
	 * there. */
	size_t count = 0;
	for (size_t i = 0; i < menu->option_count; i++) {
		if (menu->marks[i])
			menu->found[count++] = i;
	}
	*ret_count = count;
	return menu->found;
}
