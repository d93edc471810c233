/* The other side of the benchmarks: answers as fast as a process can. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int write_all(const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(STDOUT_FILENO, data, len);
		if (n <= 0)
			return 1;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

static int echo(void)
{
	static char block[64 * 1024];
	ssize_t n;
	while ((n = read(STDIN_FILENO, block, sizeof(block))) > 0) {
		if (write_all(block, (size_t)n))
			return 1;
	}
	return 0;
}

/* `count` lines of 200 bytes, each a JSON message. */
static int flood(long count)
{
	static char line[200];
	memset(line, 'x', sizeof(line));
	static const char head[] = "{\"type\":\"output\",\"id\":\"42\",\"text\":\"";
	static const char tail[] = "\"}\n";
	memcpy(line, head, sizeof(head) - 1);
	memcpy(line + sizeof(line) - (sizeof(tail) - 1), tail, sizeof(tail) - 1);
	enum { LINES = 320 }; /* about a pipe full */
	static char block[LINES * sizeof(line)];
	for (int i = 0; i < LINES; i++)
		memcpy(block + (size_t)i * sizeof(line), line, sizeof(line));
	for (; count > 0; count -= LINES) {
		long now = count < LINES ? count : LINES;
		if (write_all(block, (size_t)now * sizeof(line)))
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "echo") == 0)
		return echo();
	if (argc > 2 && strcmp(argv[1], "flood") == 0)
		return flood(strtol(argv[2], NULL, 10));
	if (argc > 1 && strcmp(argv[1], "wait") == 0)
		return pause();
	return write_all("one line\n", 9);
}
