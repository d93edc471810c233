/* What the parts of the plugin kit know of each other. */
#ifndef SDK_PLUGIN_PARTS_H
#define SDK_PLUGIN_PARTS_H

#include "base/arena.h"
#include "kit.h"
#include "perch/plugin.h"
#include "wire.h"

/* A request that was sent and whose answer was not taken yet. */
struct asked {
	struct asked *next;
	unsigned long id;
	bool is_answered;
	perch_plugin_status status;
	char *value; /* JSON text */
};

struct perch_plugin {
	struct wire wire;
	perch_json *json;
	struct arena arena; /* of `init` */
	perch_plugin_init init;
	struct buf line; /* being written */
	struct asked *asked;
	unsigned long next_id;
	perch_plugin_cancel_fn *cancelled;
	void *cancelled_data;
	char reason[64];
	bool is_over; /* cancelled without an id: the run is to end */
};

/* Fills in plugin->init from its message. */
perch_plugin_status plugin_read_init(perch_plugin *plugin, const perch_json_value *message);

/* A message that is being written: its type stands, fields follow, then it is
 * sent. */
struct perch_json_writer plugin_begin(perch_plugin *plugin, const char *type);
perch_plugin_status plugin_finish(perch_plugin *plugin, struct perch_json_writer *writer);

/* The same for a request: sent, and its answer waited for. The value stays
 * valid until the next use of the plugin. */
perch_plugin_status plugin_ask(
	perch_plugin *plugin, struct perch_json_writer *writer, const perch_json_value **ret_value);

#endif
