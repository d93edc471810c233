/* The loop around a client: it is served until it leaves, then its jobs are ended. */
#include "stdio/client.h"

#include <errno.h>
#include <signal.h>

#include "base/clock.h"
#include "perch/service.h"

/* ---- the end --------------------------------------------------------------- */

/* Jobs without a client are cancelled; the rest of the time is their ladder's. */
void stdio_client_stop(struct stdio_client *client)
{
	if (client->is_ending)
		return;
	client->is_ending = true;
	stdio_input_stop(&client->input);
	perch_timer_set(client->ladder, STDIO_END_MS * NSEC_PER_MSEC);
	client->table->leave(client->data);
	perch_service_close(client->service);
	perch_service_cancel(client->service, SIGTERM);
}

static void stdio_client_left(void *data)
{
	stdio_client_stop(data);
}

static void stdio_client_late(perch_timer *timer, void *data)
{
	(void)timer;
	struct stdio_client *client = data;
	client->is_late = true;
}

/* ---- the loop -------------------------------------------------------------- */

static bool stdio_client_line(void *data, struct str line, bool is_too_long)
{
	struct stdio_client *client = data;
	client->table->line(client->data, line, is_too_long);
	return stdio_output_waiting(&client->output) < client->table->unread_max &&
		!client->table->is_broken(client->data);
}

static void stdio_client_hold(struct stdio_client *client, bool is_held)
{
	client->is_held = is_held;
	client->table->hold(client->data, is_held);
	if (!is_held)
		stdio_input_resume(&client->input);
}

/* What cannot be done in the middle of something else. */
static void stdio_client_settle(struct stdio_client *client)
{
	size_t waiting = stdio_output_waiting(&client->output);
	size_t full = client->table->unread_max;
	bool is_broken = client->table->is_broken(client->data);
	client->has_no_memory = client->has_no_memory || is_broken || client->output.error == -ENOMEM;
	if (client->output.error || is_broken)
		stdio_client_stop(client);
	if (client->is_ending)
		return;
	if (!client->is_held && waiting >= full)
		stdio_client_hold(client, true);
	else if (client->is_held && waiting < full / 2)
		stdio_client_hold(client, false);
	else if (waiting < full / 2)
		stdio_input_resume(&client->input);
	if (client->table->settle)
		client->table->settle(client->data);
}

static bool stdio_client_is_over(const struct stdio_client *client)
{
	if (!client->is_ending || client->is_late)
		return client->is_late;
	return !perch_service_jobs(client->service) && !perch_service_servers(client->service) &&
		!stdio_output_waiting(&client->output);
}

int stdio_client_run(struct stdio_client *client)
{
	int r = 0;
	stdio_parent_watch(&client->parent, client->host);
	while (r >= 0 && !stdio_client_is_over(client)) {
		stdio_client_settle(client);
		if (!stdio_client_is_over(client))
			r = perch_host_wait(client->host, -1);
	}
	return r < 0 ? r : client->has_no_memory ? -ENOMEM : 0;
}

/* ---- life ------------------------------------------------------------------ */

int stdio_client_open(struct stdio_client *client, int input, int output, perch_err *err)
{
	client->parent = (struct stdio_parent){ .fd = -1, .left = stdio_client_left, .data = client };
	client->input.take = stdio_client_line;
	client->input.ended = stdio_client_left;
	client->input.data = client;
	client->input.line_max = client->table->line_max;
	int r = perch_timer_new(client->host, stdio_client_late, client, &client->ladder, err);
	if (r == 0)
		r = stdio_output_open(&client->output, client->host, output, err);
	if (r == 0)
		r = stdio_input_open(&client->input, client->host, input, err);
	return r;
}

void stdio_client_close(struct stdio_client *client)
{
	stdio_parent_close(&client->parent);
	perch_timer_free(client->ladder);
	stdio_input_close(&client->input);
	stdio_output_close(&client->output);
}
