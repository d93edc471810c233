/* What a plugin tells: output, logs, progress. */
#include <stdarg.h>
#include <stdlib.h>

#include "plugin_parts.h"

perch_plugin_status perch_plugin_output(perch_plugin *plugin, const char *text)
{
	struct perch_json_writer writer = plugin_begin(plugin, "output");
	kit_put(&writer, "text", text);
	return plugin_finish(plugin, &writer);
}

perch_plugin_status perch_plugin_outputf(perch_plugin *plugin, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	char *text = kit_format(format, arguments);
	va_end(arguments);
	if (!text)
		return PERCH_PLUGIN_NO_MEMORY;
	perch_plugin_status status = perch_plugin_output(plugin, text);
	free(text);
	return status;
}

perch_plugin_status perch_plugin_log(
	perch_plugin *plugin, perch_plugin_level level, const char *format, ...)
{
	static const char *const names[] = { "debug", "info", "warn", "error" };
	va_list arguments;
	va_start(arguments, format);
	char *text = kit_format(format, arguments);
	va_end(arguments);
	if (!text)
		return PERCH_PLUGIN_NO_MEMORY;
	struct perch_json_writer writer = plugin_begin(plugin, "log");
	kit_put(&writer, "level", names[(unsigned)level & 3]);
	kit_put(&writer, "message", text);
	free(text);
	return plugin_finish(plugin, &writer);
}

perch_plugin_status perch_plugin_progress(
	perch_plugin *plugin, const char *message, double current, double total)
{
	struct perch_json_writer writer = plugin_begin(plugin, "progress");
	kit_put(&writer, "message", message);
	if (total > 0) {
		perch_json_write_name(&writer, "current");
		perch_json_write_double(&writer, current);
		perch_json_write_name(&writer, "total");
		perch_json_write_double(&writer, total);
	}
	return plugin_finish(plugin, &writer);
}

perch_plugin_status perch_plugin_progress_done(perch_plugin *plugin)
{
	struct perch_json_writer writer = plugin_begin(plugin, "progress");
	perch_json_write_name(&writer, "done");
	perch_json_write_bool(&writer, true);
	return plugin_finish(plugin, &writer);
}
