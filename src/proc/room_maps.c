/* The users and groups of a room, as its init's maps say. By bare calls: a midwife writes them
 * while the host has other things to do. */
#include "proc/room_parts.h"

#include <errno.h>
#include <fcntl.h>

#include "guard/bare_calls.h"

/* The most that the kernel takes. */
enum { MAP_TEXT = 4096, MAP_PATH = 64 };

/* NUL-terminated. What is behind its end has only been counted. */
struct room_maps_text {
	char *data;
	size_t size;
	size_t len;
};

IN_CHILD static void room_maps_add(struct room_maps_text *text, const char *word)
{
	for (; *word; word++) {
		if (text->len + 1 < text->size)
			text->data[text->len] = *word;
		text->len++;
	}
	text->data[text->len < text->size ? text->len : text->size - 1] = '\0';
}

IN_CHILD static void room_maps_add_number(struct room_maps_text *text, unsigned long number)
{
	char digits[24];
	size_t at = sizeof(digits) - 1;
	digits[at] = '\0';
	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	room_maps_add(text, digits + at);
}

/* "INSIDE OUTSIDE COUNT" a line. */
IN_CHILD static void room_maps_add_line(
	struct room_maps_text *text, unsigned long first, unsigned long count)
{
	room_maps_add_number(text, first);
	room_maps_add(text, " ");
	room_maps_add_number(text, first);
	room_maps_add(text, " ");
	room_maps_add_number(text, count);
	room_maps_add(text, "\n");
}

/* Of a process; 0 = ours. */
IN_CHILD static long room_maps_open(int process, const char *name, int flags)
{
	char path[MAP_PATH];
	struct room_maps_text text = { .data = path, .size = sizeof(path) };
	room_maps_add(&text, "/proc/");
	if (process)
		room_maps_add_number(&text, (unsigned long)process);
	else
		room_maps_add(&text, "self");
	room_maps_add(&text, "/");
	room_maps_add(&text, name);
	return bare_open(path, flags | O_CLOEXEC);
}

IN_CHILD static int room_maps_put(int init, const char *name, const struct room_maps_text *text)
{
	if (text->len >= text->size)
		return -E2BIG;
	long fd = room_maps_open(init, name, O_WRONLY);
	if (fd < 0)
		return (int)fd;
	long r = bare_write((int)fd, text->data, text->len);
	bare_close((int)fd);
	return r < 0 ? (int)r : 0;
}

/* The next number of a text; behind the last one it is 0 for ever. */
IN_CHILD static unsigned long room_maps_next(const char **at)
{
	unsigned long number = 0;
	while (**at == ' ' || **at == '\n')
		++*at;
	for (; **at >= '0' && **at <= '9'; ++*at)
		number = number * 10 + (unsigned long)(**at - '0');
	return number;
}

/* Every user that we know has the same number in there. */
IN_CHILD static int room_maps_put_whole(int init, const char *name)
{
	char ours[MAP_TEXT];
	char data[MAP_TEXT];
	struct room_maps_text text = { .data = data, .size = sizeof(data) };
	long fd = room_maps_open(0, name, O_RDONLY);
	long len = fd < 0 ? fd : bare_read_at((int)fd, ours, sizeof(ours) - 1, 0);
	if (fd >= 0)
		bare_close((int)fd);
	if (len < 0)
		return (int)len;
	ours[len] = '\0';
	for (const char *at = ours; *at;) {
		unsigned long inside = room_maps_next(&at);
		room_maps_next(&at);
		unsigned long count = room_maps_next(&at);
		if (!count)
			break;
		room_maps_add_line(&text, inside, count);
	}
	return room_maps_put(init, name, &text);
}

IN_CHILD static int room_maps_put_own(int init, const char *name, long id)
{
	char data[MAP_PATH];
	struct room_maps_text text = { .data = data, .size = sizeof(data) };
	room_maps_add_line(&text, (unsigned long)id, 1);
	return room_maps_put(init, name, &text);
}

/* Root may map every user. Another user, or root in a container where it may not, maps only itself,
 * and all other users are `nobody` in there. */
int IN_CHILD room_maps_write(int init)
{
	char word[] = "deny";
	const struct room_maps_text deny = { word, sizeof(word), sizeof(word) - 1 };
	long user = bare_call(SYS_geteuid, 0, 0, 0, 0, 0, 0);
	if (user == 0 && room_maps_put_whole(init, "uid_map") == 0)
		return room_maps_put_whole(init, "gid_map");
	int r = room_maps_put_own(init, "uid_map", user);
	if (r == 0)
		r = room_maps_put(init, "setgroups", &deny);
	return r < 0 ? r : room_maps_put_own(init, "gid_map", bare_call(SYS_getegid, 0, 0, 0, 0, 0, 0));
}
