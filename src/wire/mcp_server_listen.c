/* MCP server: the clients that want to hear of changes. Legacy clients always hear of lists, and of
 * resources they subscribed to; modern ones of what their subscriptions/listen names. */
#include <errno.h>
#include <stdlib.h>

#include "base/macros.h"
#include "wire/mcp_server_parts.h"

/* By enum mcp_list. */
static const struct mcp_change {
	const char *filter;
	const char *notification;
} mcp_changes[] = {
	[MCP_TOOLS] = { "toolsListChanged", "notifications/tools/list_changed" },
	[MCP_RESOURCES] = { "resourcesListChanged", "notifications/resources/list_changed" },
	[MCP_PROMPTS] = { "promptsListChanged", "notifications/prompts/list_changed" },
};

enum { MCP_CHANGES = COUNT(mcp_changes) };

static bool mcp_server_has_list(const struct mcp_server *server, enum mcp_list list)
{
	return list == MCP_TOOLS || (list == MCP_RESOURCES && server->options.has_resources) ||
		(list == MCP_PROMPTS && server->options.has_prompts);
}

/* ---- resources ------------------------------------------------------------- */

static struct mcp_subscription *mcp_subscription_find(const struct list *list, struct str uri)
{
	struct mcp_subscription *subscription = list_first(list);
	while (subscription && !str_eq((struct str){ subscription->uri, subscription->len }, uri))
		subscription = list_next(subscription);
	return subscription;
}

/* Whether it is new. -ENOMEM, PERCH_ELIMIT. */
static int mcp_subscription_add(struct list *list, struct str uri)
{
	if (mcp_subscription_find(list, uri))
		return 0;
	if (list->count >= MCP_SUBSCRIPTIONS_MAX)
		return PERCH_ELIMIT;
	struct mcp_subscription *subscription = malloc(sizeof(*subscription) + uri.len);
	if (!subscription)
		return -ENOMEM;
	subscription->len = uri.len;
	if (uri.len)
		memcpy(subscription->uri, uri.data, uri.len);
	list_append(list, subscription);
	return 1;
}

void mcp_subscriptions_free(struct list *subscriptions)
{
	struct mcp_subscription *subscription;
	while ((subscription = list_first(subscriptions))) {
		list_remove(subscriptions, subscription);
		free(subscription);
	}
}

static void mcp_listen_wish(struct mcp_connection *connection, enum mcp_wish_kind kind,
	struct str uri, const struct mcp_version *version)
{
	struct mcp_server *server = connection->server;
	server->table->wish(server->data,
		&(struct mcp_wish){
			.kind = kind,
			.connection = connection,
			.name = uri,
			.version = version,
		});
}

/* The client is gone, and does not want to hear of any. */
void mcp_subscriptions_end(struct mcp_connection *connection)
{
	for (const struct mcp_subscription *subscription = list_first(&connection->resources);
		 subscription; subscription = list_next(subscription))
		mcp_listen_wish(connection, MCP_UNSUBSCRIBE,
			(struct str){ subscription->uri, subscription->len }, connection->version);
	mcp_subscriptions_free(&connection->resources);
}

/* The two methods of legacy clients. */
static void mcp_say_done(struct mcp_taking *taking)
{
	perch_json_writer writer = mcp_reply_begin(&taking->reply, NULL);
	mcp_reply_end(&taking->reply, &writer, MCP_NOT_CACHED);
}

void mcp_take_subscribe(struct mcp_taking *taking)
{
	struct mcp_connection *connection = taking->connection;
	struct str uri;
	if (!mcp_take_subject(taking, &uri))
		return;
	int r = mcp_subscription_add(&connection->resources, uri);
	if (r == -ENOMEM) {
		mcp_taking_fail(taking);
	} else if (r < 0) {
		mcp_refuse(taking, JSONRPC_INTERNAL_ERROR, "too many subscriptions: %d are the limit",
			(int)MCP_SUBSCRIPTIONS_MAX);
	} else {
		mcp_say_done(taking);
		if (r > 0)
			mcp_listen_wish(connection, MCP_SUBSCRIBE, uri, connection->version);
	}
}

void mcp_take_unsubscribe(struct mcp_taking *taking)
{
	struct mcp_connection *connection = taking->connection;
	struct str uri;
	if (!mcp_take_subject(taking, &uri))
		return;
	struct mcp_subscription *subscription = mcp_subscription_find(&connection->resources, uri);
	if (subscription) {
		list_remove(&connection->resources, subscription);
		free(subscription);
	}
	mcp_say_done(taking);
	if (subscription)
		mcp_listen_wish(connection, MCP_UNSUBSCRIBE, uri, connection->version);
}

/* ---- subscriptions/listen --------------------------------------------------- */

/* NULL, or what is wrong with the filter. */
static const char *mcp_filter_fault(const perch_json_value *filter)
{
	const perch_json_value *resources = perch_json_get(filter, "resourceSubscriptions");
	if (perch_json_type_of(filter) != PERCH_JSON_OBJECT)
		return "notifications must be an object";
	for (size_t i = 0; i < MCP_CHANGES; i++) {
		const perch_json_value *flag = perch_json_get(filter, mcp_changes[i].filter);
		if (flag && perch_json_type_of(flag) != PERCH_JSON_BOOL)
			return "what notifications asks for must be true or false";
	}
	if (resources && perch_json_type_of(resources) != PERCH_JSON_ARRAY)
		return "resourceSubscriptions must be a list of URIs";
	if (perch_json_count(resources) > MCP_SUBSCRIPTIONS_MAX)
		return "there are too many resourceSubscriptions";
	perch_json_iter iter = perch_json_iterate(resources);
	for (const perch_json_value *uri; (uri = perch_json_next(&iter));)
		if (perch_json_type_of(uri) != PERCH_JSON_STRING || json_str(uri).len > MCP_NAME_BYTES_MAX)
			return "resourceSubscriptions must be a list of URIs";
	return NULL;
}

static int mcp_listen_fill(
	struct mcp_request *request, const struct mcp_server *server, const perch_json_value *filter)
{
	for (unsigned i = 0; i < MCP_CHANGES; i++)
		if (json_flag(filter, mcp_changes[i].filter) &&
			mcp_server_has_list(server, (enum mcp_list)i))
			request->wanted |= 1u << i;
	if (!server->options.has_subscriptions)
		return 0;
	perch_json_iter iter = perch_json_iterate(perch_json_get(filter, "resourceSubscriptions"));
	for (const perch_json_value *uri; (uri = perch_json_next(&iter));) {
		int r = mcp_subscription_add(&request->resources, json_str(uri));
		if (r < 0)
			return r;
	}
	return 0;
}

/* `_meta` of everything that belongs to a listen. */
static void mcp_listen_write_id(perch_json_writer *writer, const struct mcp_request *request)
{
	perch_json_write_name(writer, MCP_META("subscriptionId"));
	jsonrpc_id_write(writer, &request->reply.id);
}

static perch_json_writer mcp_listen_begin(const struct mcp_request *request, const char *method)
{
	perch_json_writer writer = mcp_write_begin(request->reply.connection->server);
	jsonrpc_begin_notification(&writer, method);
	perch_json_write_name(&writer, "params");
	perch_json_begin_object(&writer);
	perch_json_write_name(&writer, "_meta");
	perch_json_begin_object(&writer);
	mcp_listen_write_id(&writer, request);
	perch_json_end_object(&writer);
	return writer;
}

static void mcp_listen_send(const struct mcp_request *request, perch_json_writer *writer)
{
	perch_json_end_object(writer);
	jsonrpc_end(writer);
	mcp_send(request->reply.connection, request->reply.stream, JSONRPC_NOTIFICATION);
}

static void mcp_listen_acknowledge(const struct mcp_request *request)
{
	perch_json_writer writer =
		mcp_listen_begin(request, "notifications/subscriptions/acknowledged");
	perch_json_write_name(&writer, "notifications");
	perch_json_begin_object(&writer);
	for (unsigned i = 0; i < MCP_CHANGES; i++)
		if (request->wanted & 1u << i)
			json_write_flag(&writer, mcp_changes[i].filter, true);
	if (request->resources.count) {
		perch_json_write_name(&writer, "resourceSubscriptions");
		perch_json_begin_array(&writer);
		for (const struct mcp_subscription *subscription = list_first(&request->resources);
			 subscription; subscription = list_next(subscription))
			perch_json_write_string_n(&writer, subscription->uri, subscription->len);
		perch_json_end_array(&writer);
	}
	perch_json_end_object(&writer);
	mcp_listen_send(request, &writer);
}

static void mcp_listen_wishes(const struct mcp_request *request, enum mcp_wish_kind kind)
{
	for (const struct mcp_subscription *subscription = list_first(&request->resources);
		 subscription; subscription = list_next(subscription))
		mcp_listen_wish(request->reply.connection, kind,
			(struct str){ subscription->uri, subscription->len }, request->reply.version);
}

void mcp_take_listen(struct mcp_taking *taking)
{
	struct mcp_connection *connection = taking->connection;
	const perch_json_value *filter = perch_json_get(taking->params, "notifications");
	const char *fault = mcp_filter_fault(filter);
	if (fault) {
		mcp_refuse(taking, JSONRPC_INVALID_PARAMS, "%s", fault);
		return;
	}
	if (connection->listens.count >= MCP_LISTENS_MAX) {
		mcp_refuse(taking, JSONRPC_INTERNAL_ERROR,
			"too many subscriptions/listen: %d are the limit", (int)MCP_LISTENS_MAX);
		return;
	}
	struct mcp_request *request = mcp_request_new(taking, &connection->listens);
	if (!request)
		return;
	if (mcp_listen_fill(request, connection->server, filter) < 0) {
		mcp_request_free(request);
		mcp_taking_fail(taking);
		return;
	}
	mcp_listen_acknowledge(request);
	mcp_listen_wishes(request, MCP_SUBSCRIBE);
}

void mcp_listen_end(struct mcp_request *request)
{
	mcp_listen_wishes(request, MCP_UNSUBSCRIBE);
	mcp_request_free(request);
}

/* Both words that the specification has for it: a notification, and the response that the
 * request has waited for all along. */
static void mcp_listen_say_goodbye(const struct mcp_request *request)
{
	const struct mcp_server *server = request->reply.connection->server;
	perch_json_writer writer = mcp_listen_begin(request, "notifications/cancelled");
	perch_json_write_name(&writer, "requestId");
	jsonrpc_id_write(&writer, &request->reply.id);
	json_write_text(&writer, "reason", STR("the server ends"));
	mcp_listen_send(request, &writer);
	writer = mcp_reply_begin(&request->reply, "complete");
	mcp_meta_begin(&writer, server);
	mcp_listen_write_id(&writer, request);
	perch_json_end_object(&writer);
	perch_json_end_object(&writer);
	jsonrpc_end(&writer);
	mcp_reply_send(&request->reply, JSONRPC_RESULT, 0);
}

void mcp_connection_finish(struct mcp_connection *connection)
{
	struct mcp_request *request;
	while ((request = list_first(&connection->listens))) {
		mcp_listen_say_goodbye(request);
		mcp_listen_end(request);
	}
}

void mcp_server_finish(struct mcp_server *server)
{
	for (struct mcp_connection *connection = list_first(&server->connections); connection;
		 connection = list_next(connection))
		mcp_connection_finish(connection);
}

/* ---- changes --------------------------------------------------------------- */

void mcp_server_list_changed(struct mcp_server *server, enum mcp_list list)
{
	const char *method = mcp_changes[list].notification;
	if (!mcp_server_has_list(server, list))
		return;
	for (struct mcp_connection *connection = list_first(&server->connections); connection;
		 connection = list_next(connection)) {
		if (connection->is_initialized) {
			perch_json_writer writer = mcp_write_begin(server);
			jsonrpc_begin_notification(&writer, method);
			jsonrpc_end(&writer);
			mcp_send(connection, NULL, JSONRPC_NOTIFICATION);
		}
		for (const struct mcp_request *request = list_first(&connection->listens); request;
			 request = list_next(request)) {
			if (!(request->wanted & 1u << list))
				continue;
			perch_json_writer writer = mcp_listen_begin(request, method);
			mcp_listen_send(request, &writer);
		}
	}
}

#define MCP_UPDATED "notifications/resources/updated"

static void mcp_tell_updated(struct mcp_connection *connection, struct str uri)
{
	perch_json_writer writer = mcp_write_begin(connection->server);
	jsonrpc_begin_notification(&writer, MCP_UPDATED);
	perch_json_write_name(&writer, "params");
	perch_json_begin_object(&writer);
	json_write_text(&writer, "uri", uri);
	perch_json_end_object(&writer);
	jsonrpc_end(&writer);
	mcp_send(connection, NULL, JSONRPC_NOTIFICATION);
}

void mcp_server_resource_updated(struct mcp_server *server, struct str uri)
{
	for (struct mcp_connection *connection = list_first(&server->connections); connection;
		 connection = list_next(connection)) {
		if (mcp_subscription_find(&connection->resources, uri))
			mcp_tell_updated(connection, uri);
		for (const struct mcp_request *request = list_first(&connection->listens); request;
			 request = list_next(request)) {
			if (!mcp_subscription_find(&request->resources, uri))
				continue;
			perch_json_writer writer = mcp_listen_begin(request, MCP_UPDATED);
			json_write_text(&writer, "uri", uri);
			mcp_listen_send(request, &writer);
		}
	}
}
