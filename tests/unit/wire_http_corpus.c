/* Invalid requests: none gets a 2xx, all are closed, however their bytes are cut. */
#include "harness/http_play.h"
#include "harness/suite.h"
#include "wire_http_corpus.h"

#include <stdio.h>

static const struct http_limits small = {
	.head_max = 512,
	.target_max = 64,
	.fields_max = 8,
	.body_max = 64,
	.extensions_max = 32,
};

static struct http_play played(struct str bytes, struct http_cut cut)
{
	struct http_play play;
	ck_assert_int_eq(http_play(&small, bytes, cut, &play), 0);
	return play;
}

START_TEST(the_corpus_is_large)
{
	ck_assert_uint_ge(COUNT(corpus), 300);
	for (size_t i = 0; i < COUNT(corpus); i++)
		for (size_t j = 0; j < i; j++)
			if (str_eq(corpus[i].bytes, corpus[j].bytes))
				ck_abort_msg("%s and %s are one case", corpus[i].name, corpus[j].name);
}
END_TEST

START_TEST(each_is_refused_with_its_status_and_closed)
{
	for (size_t i = 0; i < COUNT(corpus); i++) {
		struct http_play play = played(corpus[i].bytes, (struct http_cut){ 0 });
		char first[64];
		snprintf(first, sizeof(first), "HTTP/1.1 %d ", corpus[i].status);
		struct str sent = { play.sent.data, play.sent.len };
		if (play.ended || play.refused != corpus[i].status || !play.is_over ||
			!str_has_prefix(sent, str_from(first)))
			ck_abort_msg("%s: %zu answered, refused with %d instead of %d, over %d", corpus[i].name,
				play.ended, play.refused, corpus[i].status, play.is_over);
		/* By the right reader: a bad head gives no request, a bad body comes behind one. */
		struct str said = { play.said.data, play.said.len };
		if (str_has_prefix(said, STR("POST ")) != corpus[i].is_in_body)
			ck_abort_msg("%s: %.*s", corpus[i].name, (int)said.len, said.data);
		buf_terminate(&play.sent);
		ck_assert_ptr_nonnull(strstr(play.sent.data, "\r\nConnection: close\r\n"));
		/* One answer, and nothing behind it. */
		ck_assert_ptr_null(strstr(play.sent.data + 1, "HTTP/1.1 "));
		http_play_free(&play);
	}
}
END_TEST

START_TEST(each_is_the_same_for_every_cut)
{
	for (size_t i = 0; i < COUNT(corpus); i++) {
		struct http_play whole = played(corpus[i].bytes, (struct http_cut){ 0 });
		for (size_t at = 0; at < corpus[i].bytes.len; at++) {
			/* At each place in turn; the first is byte by byte. */
			struct http_cut cut = { at ? at : 1, at ? 0 : 1 };
			struct http_play play = played(corpus[i].bytes, cut);
			if (!http_play_same(&whole, &play))
				ck_abort_msg("%s: cut at %zu it differs", corpus[i].name, at);
			http_play_free(&play);
		}
		http_play_free(&whole);
	}
}
END_TEST

/* A good request in front gets its answer, and changes nothing for the bad one. */
START_TEST(each_is_refused_behind_a_good_request_too)
{
	for (size_t i = 0; i < COUNT(corpus); i++) {
		struct buf bytes = { 0 };
		buf_append_text(&bytes, "POST /good HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi");
		buf_append(&bytes, corpus[i].bytes.data, corpus[i].bytes.len);
		struct http_play play =
			played((struct str){ bytes.data, bytes.len }, (struct http_cut){ 0 });
		if (play.ended != 1 || play.refused != corpus[i].status || !play.is_over)
			ck_abort_msg(
				"%s: %zu answered, refused with %d", corpus[i].name, play.ended, play.refused);
		http_play_free(&play);
		buf_free(&bytes);
	}
}
END_TEST

SUITE_MAIN("wire-http-corpus", the_corpus_is_large, each_is_refused_with_its_status_and_closed,
	each_is_the_same_for_every_cut, each_is_refused_behind_a_good_request_too)
