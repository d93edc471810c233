/* The addresses of the gateway: one table. */
#include "serve/routes.h"

#include "base/macros.h"
#include "serve/api.h"
#include "serve/serve_catalog.h"
#include "serve/cookies.h"
#include "serve/mcp_endpoint.h"
#include "serve/openai.h"
#include "serve/serve_page.h"

#define GET HTTP_BIT(HTTP_GET)
#define POST HTTP_BIT(HTTP_POST)
#define PATCH HTTP_BIT(HTTP_PATCH)
#define DELETE HTTP_BIT(HTTP_DELETE)

/* X(name, methods, pattern, need, whether it is OpenAI's, handler) */
#define ROUTES(X)                                                                        \
	X(PAGE, GET, "/", NEED_NOTHING, false, page_index)                                   \
	X(PAGE_FILE, GET, "/page/{}", NEED_NOTHING, false, page_get)                         \
	X(HEALTH, GET, "/healthz", NEED_NOTHING, false, api_health)                          \
	X(READY, GET, "/readyz", NEED_NOTHING, false, api_ready)                             \
	X(METRICS, GET, "/metrics", NEED_TOKEN, false, api_metrics)                          \
	X(CATALOG, GET, "/api/catalog", NEED_TOKEN, false, catalog_answer)                   \
	X(TURNS, POST, "/api/turns", NEED_TOKEN, false, api_turn)                            \
	X(CALLS, POST, "/api/calls", NEED_TOKEN, false, api_call)                            \
	X(RUNS, POST, "/api/runs", NEED_TOKEN, false, api_run)                               \
	X(JOBS, GET, "/api/jobs", NEED_TOKEN, false, api_jobs)                               \
	X(JOB, GET, "/api/jobs/{}", NEED_TOKEN, false, api_job)                              \
	X(CANCEL, DELETE, "/api/jobs/{}", NEED_TOKEN, false, api_cancel)                     \
	X(JOB_EVENTS, GET, "/api/jobs/{}/events", NEED_TOKEN, false, api_job_events)         \
	X(ANSWER, POST, "/api/jobs/{}/answers/{}", NEED_TOKEN, false, api_answer)            \
	X(EVENTS, GET, "/api/events", NEED_TOKEN, false, api_events)                         \
	X(SESSIONS, GET, "/api/sessions", NEED_TOKEN, false, api_sessions)                   \
	X(SESSION, GET, "/api/sessions/{}", NEED_TOKEN, false, api_session)                  \
	X(SESSION_CHANGE, PATCH, "/api/sessions/{}", NEED_TOKEN, false, api_session_change)  \
	X(SESSION_REMOVE, DELETE, "/api/sessions/{}", NEED_TOKEN, false, api_session_remove) \
	X(MESSAGES, GET, "/api/sessions/{}/messages", NEED_TOKEN, false, api_messages)       \
	X(WHO, GET, "/api/login", NEED_NOTHING, false, cookies_who)                          \
	X(LOGIN, POST, "/api/login", NEED_NOTHING, false, cookies_login)                     \
	X(LOGOUT, POST, "/api/logout", NEED_TOKEN, false, cookies_logout)                    \
	X(TOKENS, GET, "/api/tokens", NEED_ADMIN, false, api_tokens)                         \
	X(AUDIT, GET, "/api/audit", NEED_ADMIN, false, api_audit)                            \
	X(HISTORY, GET, "/api/metrics/history", NEED_TOKEN, false, api_history)              \
	X(MCP_POST, POST, "/mcp", NEED_TOKEN, false, mcp_post)                               \
	X(MCP_LISTEN, GET, "/mcp", NEED_TOKEN, false, mcp_listen)                            \
	X(MCP_DELETE, DELETE, "/mcp", NEED_TOKEN, false, mcp_delete)                         \
	X(MODELS, GET, "/v1/models", NEED_TOKEN, true, openai_models)                        \
	X(MODEL, GET, "/v1/models/{}", NEED_TOKEN, true, openai_model)                       \
	X(CHAT, POST, "/v1/chat/completions", NEED_TOKEN, true, openai_chat)                 \
	X(RESPONSES, POST, "/v1/responses", NEED_TOKEN, true, openai_responses)

#define ROUTE_NUMBER(name, methods, pattern, need, is_openai, handler) ROUTE_##name,
#define ROUTE_ROW(name, methods, pattern, need, is_openai, handler) \
	{ methods, pattern, ROUTE_##name },
#define ROUTE_FACTS(name, methods, pattern, need, is_openai, handler) { need, is_openai, handler },

enum { ROUTES(ROUTE_NUMBER) ROUTE_COUNT };

static const struct http_route route_rows[] = { ROUTES(ROUTE_ROW) };

const struct http_routes routes = { route_rows, COUNT(route_rows) };
const struct route route_table[ROUTE_COUNT] = { ROUTES(ROUTE_FACTS) };
