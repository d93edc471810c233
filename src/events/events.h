/* The frontend for programs (--json): every message is one line of JSON.
 *
 *     {"event":"output","text":"…"}          {"event":"log","level":"warn","message":"…"}
 *     {"event":"progress","message":"…","current":3,"total":10}
 *     {"event":"progress","done":true}       {"event":"exec","command":"make"}
 *     {"event":"store","key":"k"}            {"event":"load","key":"k"}
 *     {"event":"metadata","keys":["env"]}    {"event":"warning","message":"…"}
 *     {"event":"select","ask":3,"message":"…","options":["red","blue"],"default":0}
 *     {"event":"withdraw","ask":3}           the question is no longer open
 *     {"event":"end","success":true,"exit_code":0,"signal":null,"duration_ms":12,
 *      "sandbox":["landlock"],"reach":"group"}
 *
 * Answers are lines, too: {"ask":3,"value":"blue"} or {"ask":3,"cancel":true}.
 * The value is a string for `prompt`, true or false for `confirm`, an option or
 * its index (from 0) for `select`, a list of them for `multi_select`. What does
 * not fit is told in a `warning`, and the question stays open. Answers may come
 * before their questions. */
#ifndef EVENTS_EVENTS_H
#define EVENTS_EVENTS_H

#include "frontend.h"
#include "perch/base.h"
#include "proc/loop.h"

enum {
	EVENTS_LINE_MAX = 8 * 1024 * 1024, /* of an answer */
	EVENTS_AHEAD_MAX = 1024,           /* answers that came before their question */
	EVENTS_AHEAD_BYTES = 16 << 20,     /* all of them together */
};

/* Makes the frontend. Both descriptors stay the caller's and may be of any kind, blocking or not.
 * No user can be asked (is_interactive is false) when in_fd is -1, closed, or at its end already;
 * when its end comes later, and no answer is left for the open question, `went_away` is called.
 * Output that cannot be written at once is waited for. -ENOMEM, or the error of epoll. */
int events_new(
	struct loop *loop, int in_fd, int out_fd, struct frontend **ret_frontend, perch_err *err);

/* Debug messages are shown only after this (-v). */
void events_show_debug(struct frontend *frontend);

/* 0, or why events can no longer be written (-EPIPE: there is no reader). They are dropped from
 * then on. */
int events_error(const struct frontend *frontend);

#endif
