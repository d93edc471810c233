/* What is allowed now, for people and programs. */
#include <stdio.h>

#include "cli/ui/allow.h"
#include "cli/ui/envelope.h"
#include "cli/ui/page.h"

static const char *allow_net_word(const struct policy_widening *widening)
{
	static const char *const words[] = {
		[WIDENING_NET_KEEP] = NULL,
		[WIDENING_NET_NONE] = "none",
		[WIDENING_NET_FULL] = "full",
	};
	return words[widening->net];
}

static const char *allow_sandbox_word(const struct policy_widening *widening)
{
	if (widening->is_off)
		return "off";
	return widening->is_on ? "on" : NULL;
}

int allow_print_json(const struct allow_outcome *outcome)
{
	static const char *const nothing[] = { NULL };
	const struct policy_widening *widening = &outcome->grant->widening;
	struct envelope envelope;
	envelope_begin(&envelope);
	perch_json_writer *writer = &envelope.writer;
	member_text(writer, "action", outcome->revokes ? "revoke" : "allow");
	member_text(writer, "name", outcome->name);
	member_list(writer, "read", widening->read ? widening->read : nothing);
	member_list(writer, "write", widening->write ? widening->write : nothing);
	member_list(writer, "env", widening->env ? widening->env : nothing);
	member_list(writer, "presets", widening->presets ? widening->presets : nothing);
	member_text(writer, "net", allow_net_word(widening));
	member_text(writer, "sandbox", allow_sandbox_word(widening));
	if (outcome->subject->grant) {
		member_list(writer, "plugins", outcome->grant->callees ? outcome->grant->callees : nothing);
		member_text(writer, "shell", outcome->grant->shell);
	}
	if (outcome->subject->has_tools)
		member_list(writer, "tools", outcome->grant->tools ? outcome->grant->tools : nothing);
	if (outcome->approved)
		member_text(writer, "approved", outcome->approved);
	if (outcome->granted)
		member_text(writer, "granted", outcome->granted);
	return envelope_end(&envelope);
}

static void allow_print_list(const char *label, const char *const *list)
{
	if (!list || !list[0])
		return;
	struct buf text = { 0 };
	printf("  %-8s ", label);
	cli_put_text(stdout, str_from(page_join(&text, list, "")));
	putchar('\n');
	buf_free(&text);
}

int allow_print_for_people(const struct allow_outcome *outcome)
{
	const struct policy_widening *widening = &outcome->grant->widening;
	const char *net = allow_net_word(widening);
	bool has_lists = (widening->read && widening->read[0]) ||
		(widening->write && widening->write[0]) || (widening->env && widening->env[0]) ||
		(widening->presets && widening->presets[0]);
	const struct grant *grant = outcome->grant;
	bool has_more =
		(grant->callees && grant->callees[0]) || grant->shell || (grant->tools && grant->tools[0]);
	if (outcome->approved)
		cli_tell(stdout, "approved: %s\n", outcome->approved);
	if (outcome->granted)
		cli_tell(stdout, "granted: %s\n", outcome->granted);
	bool is_widened = has_lists || has_more || net || widening->is_off || widening->is_on;
	if (!is_widened && (outcome->granted || outcome->approved))
		return 0; /* "nothing" would speak of the sandbox, not of what was granted */
	printf("%s ", outcome->subject->noun);
	cli_put_text(stdout, str_from(outcome->name));
	printf(" is allowed%s\n", is_widened ? ", beyond its default:" : " nothing beyond its default");
	allow_print_list("read", widening->read);
	allow_print_list("write", widening->write);
	allow_print_list("env", widening->env);
	allow_print_list("presets", widening->presets);
	allow_print_list("plugins", grant->callees);
	allow_print_list("tools", grant->tools);
	if (grant->shell)
		cli_tell(stdout, "  %-8s %s\n", "shell", grant->shell);
	if (net)
		printf("  %-8s %s\n", "net", net);
	if (widening->is_off)
		printf("  %-8s off: it runs with all your rights\n", "sandbox");
	if (widening->is_on)
		printf("  %-8s on, whatever its file says\n", "sandbox");
	return 0;
}
