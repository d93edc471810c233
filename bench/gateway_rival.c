/* The first words of a chat by OpenAI's API: from `perch serve`, which starts an agent for them,
 * and from LiteLLM, which makes them up itself. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "gateway.h"
#include "mcp_client.h"
#include "place.h"

enum { CHATS = 200, PATIENCE_TENTHS = 3000 };

/* Half of them are no longer; in milliseconds. */
static double rival_chat_ms(void)
{
	static double times[CHATS];
	int fd = gateway_connect();
	for (int i = 0; i < CHATS; i++) {
		uint64_t start = bench_now_ns();
		gateway_ask(fd, "POST /v1/chat/completions", "Content-Type: application/json\r\n",
			"{\"model\":\"bot\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":"
			"\"hi\"}]}");
		gateway_await(fd, "\"content\":\"");
		times[i] = (double)(bench_now_ns() - start) / 1e6;
		close(fd); /* what is left of the answer goes with it */
		fd = gateway_connect();
	}
	close(fd);
	qsort(times, CHATS, sizeof(times[0]), bench_order);
	return times[CHATS / 2];
}

static pid_t rival_start(const char *set)
{
	static const char config[] =
		"printf 'model_list:\\n- model_name: bot\\n  litellm_params: {model: openai/bot, api_key: "
		"none, mock_response: hi}\\n' >\"$HOME/litellm.yaml\"";
	char command[8192];
	snprintf(command, sizeof(command),
		"%s && exec >\"$HOME/litellm.log\" 2>&1 && LITELLM_MASTER_KEY=%s "
		"LITELLM_LOCAL_MODEL_COST_MAP=True PYTHONDONTWRITEBYTECODE= PYTHONPATH=%s exec python3 -c "
		"'from litellm import run_server; run_server()' --config \"$HOME/litellm.yaml\" --host "
		"127.0.0.1 --port %u --telemetry False",
		config, gateway.token, set, gateway.port);
	pid_t pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	return pid;
}

static bool rival_is_up(void)
{
	for (int i = 0; i < PATIENCE_TENTHS; i++) {
		usleep(100 * 1000);
		if (waitpid(gateway.pid, NULL, WNOHANG) == gateway.pid)
			return false;
		if (gateway_listens())
			return true;
	}
	return false;
}

static void rival_measure(const char *set)
{
	gateway.port = 20000 + (unsigned)getpid() % 20000;
	snprintf(gateway.token, sizeof(gateway.token), "sk-0123456789abcdef0123456789abcdef");
	gateway.pid = rival_start(set);
	if (rival_is_up()) {
		bench_print("serve/chat", "litellm", rival_chat_ms(), "ms");
		bench_print(
			"serve/chat", "litellm-memory", (double)client_resident_kib(gateway.pid) / 1024, "MB");
	} else {
		printf("serve/chat litellm does not come up\n");
	}
	kill(-gateway.pid, SIGTERM);
	waitpid(gateway.pid, NULL, 0);
	kill(-gateway.pid, SIGKILL); /* what it has left */
}

void gateway_bench_rival(void)
{
	char set[2100];
	const struct gateway ours = gateway;
	bench_print("serve/chat", "ours", rival_chat_ms(), "ms");
	bench_print("serve/chat", "ours-memory", (double)client_resident_kib(ours.pid) / 1024, "MB");
	if (client_find_set("litellm-pip", set, sizeof(set)))
		rival_measure(set);
	else
		printf("serve/chat litellm is not installed: tests/foreign/install litellm-pip\n");
	gateway = ours;
}
