/* Requests over HTTP by libcurl. libcurl says which sockets and times it waits for; what happens to
 * them comes from the loop of the host. */
#include "remote/remote_http.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/list.h"
#include "wire/http_text.h"

struct transfers {
	struct transfers_options options;
	perch_host *host;
	CURLM *multi;
	perch_timer *timer;
	void (*heard)(void *data);
	void *data;
	struct list all;
	bool is_held;
};

/* The headers that the engine is told of. */
enum { TRANSFER_TYPE, TRANSFER_SESSION, TRANSFER_AUTHENTICATE, TRANSFER_LOCATION, TRANSFER_FIELDS };

struct transfer {
	struct link link;
	struct transfers *owner;
	struct remote_exchange *exchange;
	CURL *easy;
	struct curl_slist *headers;
	struct buf fields[TRANSFER_FIELDS];
	size_t head_bytes;
	bool has_head; /* all of it has come, and was told */
	bool is_paused;
	const char *why; /* it was ended; NULL = as libcurl says */
	char error[CURL_ERROR_SIZE];
};

DEFINE_POINTER_CLEANUP(transfers_cleanup, struct transfers, transfers_free)

/* ---- heads -------------------------------------------------------------------------- */

static void transfer_keep_field(struct transfer *transfer, struct str line)
{
	static const struct str names[] = {
		[TRANSFER_TYPE] = STR("Content-Type"),
		[TRANSFER_SESSION] = STR("Mcp-Session-Id"),
		[TRANSFER_AUTHENTICATE] = STR("WWW-Authenticate"),
		[TRANSFER_LOCATION] = STR("Location"),
	};
	struct str value = line;
	struct str name = str_cut(&value, ':');
	value = str_trim(value);
	for (size_t i = 0; i < TRANSFER_FIELDS; i++) {
		if (!http_same_word(name, names[i]))
			continue;
		buf_clear(&transfer->fields[i]);
		buf_append(&transfer->fields[i], value.data, value.len);
	}
}

static struct str transfer_field(const struct transfer *transfer, size_t i)
{
	const struct buf *field = &transfer->fields[i];
	return (struct str){ field->data, field->failed ? 0 : field->len };
}

static void transfer_tell_head(struct transfer *transfer)
{
	long status = 0;
	curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
	if (status < 200) /* another one follows */
		return;
	const struct remote_head head = {
		.status = (int)status,
		.type = transfer_field(transfer, TRANSFER_TYPE),
		.session = transfer_field(transfer, TRANSFER_SESSION),
		.authenticate = transfer_field(transfer, TRANSFER_AUTHENTICATE),
		.location = transfer_field(transfer, TRANSFER_LOCATION),
	};
	transfer->has_head = true;
	remote_head(transfer->exchange, &head);
}

static size_t transfer_take_header(char *text, size_t one, size_t len, void *data)
{
	(void)one;
	struct transfer *transfer = data;
	const struct str line = str_trim((struct str){ text, len });
	transfer->head_bytes += len;
	if (transfer->head_bytes > TRANSFER_HEAD_MAX) {
		transfer->why = "the head of the answer has no end";
		return 0;
	}
	if (transfer->has_head) /* what stands behind a body */
		return len;
	if (line.len)
		transfer_keep_field(transfer, line);
	else
		transfer_tell_head(transfer);
	return len;
}

/* ---- bodies ------------------------------------------------------------------------- */

static size_t transfer_take_body(char *text, size_t one, size_t len, void *data)
{
	(void)one;
	struct transfer *transfer = data;
	if (transfer->owner->is_held) {
		transfer->is_paused = true;
		return CURL_WRITEFUNC_PAUSE;
	}
	return remote_body(transfer->exchange, (struct str){ text, len }) ? len : 0;
}

/* ---- ends --------------------------------------------------------------------------- */

static void transfer_free(struct transfer *transfer)
{
	list_remove(&transfer->owner->all, transfer);
	if (transfer->easy)
		curl_multi_remove_handle(transfer->owner->multi, transfer->easy);
	curl_easy_cleanup(transfer->easy);
	curl_slist_free_all(transfer->headers);
	for (size_t i = 0; i < TRANSFER_FIELDS; i++)
		buf_free(&transfer->fields[i]);
	free(transfer);
}

static void transfer_end(struct transfer *transfer, CURLcode code)
{
	char words[CURL_ERROR_SIZE] = "";
	struct remote_exchange *exchange = transfer->exchange;
	if (code != CURLE_OK)
		snprintf(words, sizeof(words), "%s",
			transfer->why            ? transfer->why
				: transfer->error[0] ? transfer->error
									 : curl_easy_strerror(code));
	transfer_free(transfer);
	remote_set_data(exchange, NULL);
	remote_done(exchange, str_from(words));
}

static void transfers_collect(struct transfers *transfers)
{
	int left;
	for (CURLMsg *message; (message = curl_multi_info_read(transfers->multi, &left));) {
		struct transfer *transfer = NULL;
		CURLcode code = message->data.result; /* the message is gone with its transfer */
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
		transfer_end(transfer, code);
	}
}

void transfers_give_up(struct remote_exchange *exchange)
{
	struct transfer *transfer = remote_data(exchange);
	if (transfer)
		transfer_free(transfer);
	remote_set_data(exchange, NULL);
}

/* ---- the loop ------------------------------------------------------------------------- */

static void transfers_act(struct transfers *transfers, curl_socket_t socket, int events)
{
	int running;
	transfers->heard(transfers->data);
	curl_multi_socket_action(transfers->multi, socket, events, &running);
	transfers_collect(transfers);
}

struct transfers_socket {
	struct transfers *owner;
	perch_source *source;
	curl_socket_t fd;
};

static void transfers_ready(perch_source *source, void *data, unsigned events)
{
	(void)source;
	const struct transfers_socket *socket = data;
	int bits = (events & (PERCH_READABLE | PERCH_PEER_LEFT) ? CURL_CSELECT_IN : 0) |
		(events & PERCH_WRITABLE ? CURL_CSELECT_OUT : 0) |
		(events & PERCH_HANGUP ? CURL_CSELECT_ERR : 0);
	transfers_act(socket->owner, socket->fd, bits);
}

static void transfers_forget_socket(struct transfers *transfers, struct transfers_socket *socket)
{
	if (!socket)
		return;
	curl_multi_assign(transfers->multi, socket->fd, NULL);
	perch_source_free(socket->source);
	free(socket);
}

static int transfers_watch(CURL *easy, curl_socket_t fd, int what, void *data, void *of_socket)
{
	(void)easy;
	struct transfers *transfers = data;
	struct transfers_socket *socket = of_socket;
	unsigned events =
		(what & CURL_POLL_IN ? PERCH_READABLE : 0u) | (what & CURL_POLL_OUT ? PERCH_WRITABLE : 0u);
	if (what == CURL_POLL_REMOVE) {
		transfers_forget_socket(transfers, socket);
		return 0;
	}
	if (socket)
		return perch_source_watch(socket->source, events) < 0 ? -1 : 0;
	socket = calloc(1, sizeof(*socket));
	if (!socket)
		return -1;
	*socket = (struct transfers_socket){ .owner = transfers, .fd = fd };
	int r = perch_source_new(
		transfers->host, fd, events, transfers_ready, socket, &socket->source, NULL);
	if (r < 0) {
		free(socket);
		return -1;
	}
	curl_multi_assign(transfers->multi, fd, socket);
	return 0;
}

static void transfers_due(perch_timer *timer, void *data)
{
	(void)timer;
	transfers_act(data, CURL_SOCKET_TIMEOUT, 0);
}

static int transfers_wait(CURLM *multi, long ms, void *data)
{
	(void)multi;
	const struct transfers *transfers = data;
	perch_timer_set(transfers->timer, ms < 0 ? NEVER : (uint64_t)ms * NSEC_PER_MSEC);
	return 0;
}

/* ---- beginning -------------------------------------------------------------------------- */

static int transfer_add_header(struct transfer *transfer, const char *header)
{
	struct curl_slist *longer = curl_slist_append(transfer->headers, header);
	transfer->headers = longer ? longer : transfer->headers;
	return longer ? 0 : -ENOMEM;
}

/* libcurl leaves out a header without a value, unless it is written so. */
static int transfer_add_empty(struct transfer *transfer, struct str header)
{
	_cleanup_(buf_free) struct buf name = { 0 };
	struct str rest = header;
	struct str word = str_cut(&rest, ':');
	buf_append(&name, word.data, word.len);
	if (buf_append_char(&name, ';') < 0 || buf_terminate(&name) < 0)
		return -ENOMEM;
	return transfer_add_header(transfer, name.data);
}

static int transfer_add_headers(struct transfer *transfer, struct str headers)
{
	int r = 0;
	while (headers.len && r == 0) {
		struct str header = str_cut(&headers, '\0');
		r = str_has_suffix(header, STR(": ")) ? transfer_add_empty(transfer, header)
											  : transfer_add_header(transfer, header.data);
	}
	/* libcurl's own: a server that must be asked before it is sent a body is none of ours. */
	return r < 0 ? r : transfer_add_header(transfer, "Expect:");
}

static void transfer_set_up(struct transfer *transfer, const struct remote_request *request)
{
	const struct transfers_options *options = &transfer->owner->options;
	CURL *easy = transfer->easy;
	curl_easy_setopt(easy, CURLOPT_URL, options->url);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	if (options->is_local)
		curl_easy_setopt(easy, CURLOPT_PROXY, ""); /* whatever http_proxy says */
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)options->connect_ms);
	curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "perch-remote");
	if (options->certificates)
		curl_easy_setopt(easy, CURLOPT_CAINFO, options->certificates);
	curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
	if (request->body.len) {
		curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
		curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body.data);
	}
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, transfer_take_header);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, transfer_take_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->error);
	curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
}

void transfers_begin(struct transfers *transfers, struct remote_exchange *exchange,
	const struct remote_request *request)
{
	struct transfer *transfer = calloc(1, sizeof(*transfer));
	remote_set_data(exchange, transfer);
	if (!transfer) {
		remote_done(exchange, STR("memory ran out"));
		return;
	}
	transfer->owner = transfers;
	transfer->exchange = exchange;
	list_append(&transfers->all, transfer);
	transfer->easy = curl_easy_init();
	int r = transfer->easy ? transfer_add_headers(transfer, request->headers) : -ENOMEM;
	if (r == 0) {
		transfer_set_up(transfer, request);
		r = curl_multi_add_handle(transfers->multi, transfer->easy) == CURLM_OK ? 0 : -ENOMEM;
	}
	if (r < 0)
		transfer_end(transfer, CURLE_OUT_OF_MEMORY);
}

void transfers_hold(struct transfers *transfers, bool is_held)
{
	transfers->is_held = is_held;
	struct transfer *next;
	for (struct transfer *transfer = list_first(&transfers->all); transfer && !is_held;
		 transfer = next) {
		next = list_next(transfer);
		bool was_paused = transfer->is_paused;
		transfer->is_paused = false;
		if (was_paused)
			curl_easy_pause(transfer->easy, CURLPAUSE_CONT);
	}
}

/* ---- life --------------------------------------------------------------------------------- */

int transfers_new(perch_host *host, const struct transfers_options *options,
	void (*heard)(void *data), void *data, struct transfers **ret_transfers, perch_err *err)
{
	_cleanup_(transfers_cleanup) struct transfers *transfers = calloc(1, sizeof(*transfers));
	if (!transfers || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return err_no_memory(err);
	transfers->options = *options;
	transfers->host = host;
	transfers->heard = heard;
	transfers->data = data;
	transfers->multi = curl_multi_init();
	if (!transfers->multi)
		return err_no_memory(err);
	int r = perch_timer_new(host, transfers_due, transfers, &transfers->timer, err);
	if (r < 0)
		return r;
	curl_multi_setopt(transfers->multi, CURLMOPT_SOCKETFUNCTION, transfers_watch);
	curl_multi_setopt(transfers->multi, CURLMOPT_SOCKETDATA, transfers);
	curl_multi_setopt(transfers->multi, CURLMOPT_TIMERFUNCTION, transfers_wait);
	curl_multi_setopt(transfers->multi, CURLMOPT_TIMERDATA, transfers);
	*ret_transfers = steal(&transfers);
	return 0;
}

void transfers_free(struct transfers *transfers)
{
	if (!transfers)
		return;
	curl_multi_cleanup(transfers->multi);
	perch_timer_free(transfers->timer);
	free(transfers);
	curl_global_cleanup();
}
