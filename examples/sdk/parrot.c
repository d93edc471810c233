/* An agent: says the message again, word by word, and counts the turns of its
 * session in the session's id. */
#include <perch/agentkit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int answer(perch_agentkit *agent, void *data)
{
	(void)data;
	char id[32];
	const char *text = perch_agentkit_message(agent);
	const char *session = perch_agentkit_session_id(agent);
	int turn = strncmp(session, "turn-", 5) == 0 ? atoi(session + 5) + 1 : 1;
	snprintf(id, sizeof(id), "turn-%d", turn);
	perch_agentkit_session(agent, id);
	if (strcmp(text, "be quiet") == 0) {
		perch_agentkit_error(agent, "I am a parrot, %s", perch_agentkit_sender(agent));
		return 0;
	}
	while (perch_agentkit_is_streaming(agent) && *text) {
		size_t len = strcspn(text, " ") + strspn(text + strcspn(text, " "), " ");
		char *word = strndup(text, len);
		bool is_heard = word && perch_agentkit_partial(agent, word);
		free(word);
		if (!is_heard)
			return 1;
		text += len;
	}
	perch_agentkit_reply(agent, text);
	return 0;
}

int main(void)
{
	return perch_agentkit_serve(answer, NULL);
}
