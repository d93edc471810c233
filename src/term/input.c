/* What the terminal frontend reads: bytes become keys, keys become an answer. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/macros.h"
#include "term/term_parts.h"
#include "term/plain.h"

enum {
	READ_SIZE = 4096,
	LINE_MAX_BYTES = 64 * 1024,
	AHEAD_READS = 64, /* as much is taken of what was typed ahead; a flood has no end */
};

/* Long enough for the rest of a sequence to arrive, too short to be noticed. */
#define ESCAPE_NS (50 * NSEC_PER_MSEC)

#define PASTE_ON "\x1B[?2004h"
#define PASTE_OFF "\x1B[?2004l"

static void input_set_timer(struct term *term, uint64_t when_ns)
{
	timer_set(&term->loop->timers, &term->input_timer, when_ns);
}

void term_doom(struct term *term, uint64_t number)
{
	term->is_doomed = true;
	term->doomed_number = number;
	input_set_timer(term, clock_now_ns());
}

static int input_enter(struct term *term)
{
	if (!term->draws)
		return 0;
	int r = tty_enter(&term->tty);
	if (r == 0)
		buf_append_text(&term->bytes, PASTE_ON);
	return r;
}

static void input_leave(struct term *term)
{
	if (!term->tty.is_raw)
		return;
	buf_append_text(&term->bytes, PASTE_OFF);
	sink_write_buf(&term->ui, &term->bytes);
	tty_leave(&term->tty);
}

void term_begin_input(struct term *term)
{
	if (input_enter(term) < 0 || loop_watch(term->loop, &term->input, EPOLLIN) < 0) {
		uint64_t number = term->asking.question->number;
		input_leave(term);
		asking_close(&term->asking);
		term_doom(term, number);
		return;
	}
	term->awaits_rest = false;
	if (term->typed.len)
		input_set_timer(term, clock_now_ns());
}

void term_end_input(struct term *term)
{
	loop_watch(term->loop, &term->input, 0);
	input_set_timer(term, NEVER);
	input_leave(term);
}

static void input_keep_bytes(struct term *term, const char *bytes, ssize_t len)
{
	if (buf_append(&term->typed, bytes, (size_t)len) < 0)
		term->typed.failed = false; /* these keys are lost, the next may fit */
}

static void input_read_ahead(struct term *term)
{
	char bytes[READ_SIZE];
	struct pollfd waiting = { .fd = term->input.fd, .events = POLLIN };
	for (int i = 0; i < AHEAD_READS && poll(&waiting, 1, 0) > 0; i++) {
		ssize_t n = read(waiting.fd, bytes, sizeof(bytes));
		if (n <= 0)
			return;
		input_keep_bytes(term, bytes, n);
	}
}

/* Byte by byte as always, because the start and the end of a paste must not be missed. The start of
 * a key stays; only an Escape that may stand for itself was pressed too early. */
bool term_take_typed(struct term *term, struct editor *line)
{
	static const struct key blank = { .code = KEY_TEXT, .character = ' ' };
	size_t used = 0;
	input_read_ahead(term);
	while (used < term->typed.len) {
		struct key key;
		size_t taken =
			keys_read(&term->keys, term->typed.data + used, term->typed.len - used, false, &key);
		if (!taken)
			break;
		used += taken;
		if (line)
			editor_key(line, key.code == KEY_ENTER ? &blank : &key);
	}
	buf_consume(&term->typed, used);
	if (term->typed.len == 1 && term->typed.data[0] == '\x1B' && !term->keys.is_pasting)
		buf_clear(&term->typed);
	return used > 0;
}

/* The question is over. Its answer lives on the stack while it is reported; the term is not touched
 * after that, because it may be asking again, or be gone. */
static void input_finish(struct term *term)
{
	const struct asking *asking = &term->asking;
	if (term->draws && !(asking->manner.is_conversation && asking->answer.cancelled))
		term_show_answered(term);
	term_end_input(term);
	struct asking over = term->asking;
	term->asking = (struct asking){ 0 };
	term_refresh(term);
	term->frontend.answered(term->frontend.answered_data, &over.answer);
	asking_close(&over);
}

/* What the terminal does on Ctrl+Z when it is not raw. */
static void input_request_stop(void)
{
	kill(0, SIGTSTP);
}

/* Out of habit many press Enter behind y or n: it must not go to the next
 * question when both came together. */
static size_t input_skip_enter(const struct term *term, const struct key *key, size_t used)
{
	bool is_letter = term->asking.question->kind == PERCH_QUESTION_CONFIRM && key->code == KEY_TEXT;
	int next = used < term->typed.len ? term->typed.data[used] : 0;
	return is_letter && (next == '\r' || next == '\n') ? used + 1 : used;
}

/* A user who cancels takes back what they typed ahead; but a conversation goes on. */
static bool input_goes_on_when_cancelled(const struct asking *asking)
{
	return asking->manner.is_conversation || asking->manner.is_deliberate;
}

static enum asking_step input_use_keys(struct term *term, bool is_final)
{
	enum asking_step step = ASKING_GOES_ON;
	size_t used = 0;
	while (step == ASKING_GOES_ON && used < term->typed.len) {
		struct key key;
		size_t taken =
			keys_read(&term->keys, term->typed.data + used, term->typed.len - used, is_final, &key);
		if (!taken)
			break;
		used += taken;
		if (key.code != KEY_NONE)
			step = asking_key(&term->asking, &key);
		if (step == ASKING_ANSWERED)
			used = input_skip_enter(term, &key, used);
	}
	bool is_all_meant = step != ASKING_CANCELLED || input_goes_on_when_cancelled(&term->asking);
	buf_consume(&term->typed, is_all_meant ? used : term->typed.len);
	return step;
}

/* Keys until the question is answered. Bytes that are left over then belong to
 * the next one; bytes that are left over before are the start of a key. */
static void input_take_keys(struct term *term, bool is_final)
{
	enum asking_step step = input_use_keys(term, is_final);
	if (step == ASKING_ANSWERED || step == ASKING_CANCELLED) {
		input_finish(term);
		return;
	}
	if (step == ASKING_CLEARS)
		screen_clear(&term->screen, &term->bytes);
	bool goes_on = step == ASKING_GOES_ON;
	term->awaits_rest = goes_on;
	if (term->typed.len)
		input_set_timer(term, clock_after(clock_now_ns(), goes_on ? ESCAPE_NS : 0));
	else
		input_set_timer(term, NEVER);
	term_refresh(term);
	if (step == ASKING_SUSPENDS)
		input_request_stop();
}

/* The user's Enter has ended the line of the question. */
static enum asking_step input_take_line(struct term *term, struct str line)
{
	if (line.len && line.data[line.len - 1] == '\r')
		line.len--;
	term->screen.column = (struct column){ 0 };
	term->has_plain_line = false;
	enum asking_step step = plain_take(&term->asking, line);
	if (step == ASKING_GOES_ON) {
		buf_printf(&term->bytes, "  ! %s\n", term->asking.note);
		term_refresh(term);
	}
	return step;
}

static void input_take_lines(struct term *term)
{
	enum asking_step step = ASKING_GOES_ON;
	while (step == ASKING_GOES_ON && term->typed.len) {
		const char *newline = memchr(term->typed.data, '\n', term->typed.len);
		if (!newline && term->typed.len < LINE_MAX_BYTES)
			return;
		size_t len = newline ? (size_t)(newline - term->typed.data) : term->typed.len;
		step = input_take_line(term, (struct str){ term->typed.data, len });
		buf_consume(&term->typed, newline ? len + 1 : len);
	}
	if (step != ASKING_GOES_ON)
		input_finish(term);
}

static void input_take(struct term *term, bool is_final)
{
	if (term->draws)
		input_take_keys(term, is_final);
	else
		input_take_lines(term);
}

static void input_take_end(struct term *term)
{
	asking_end(&term->asking);
	term_erase(term);
	input_finish(term);
}

void term_input_ready(struct source *source, uint32_t events)
{
	(void)events;
	struct term *term = container_of(source, struct term, input);
	char bytes[READ_SIZE];
	ssize_t n = read(source->fd, bytes, sizeof(bytes));
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		input_take_end(term);
		return;
	}
	input_keep_bytes(term, bytes, n);
	input_take(term, false);
}

void term_input_due(struct timer *timer, uint64_t now_ns)
{
	(void)now_ns;
	struct term *term = container_of(timer, struct term, input_timer);
	if (term->is_doomed) {
		term->is_doomed = false;
		struct answer answer = { .number = term->doomed_number, .cancelled = true };
		term->frontend.answered(term->frontend.answered_data, &answer);
		return;
	}
	if (term->asking.question)
		input_take(term, term->awaits_rest);
}
