/* The gateway's own API: the handlers of its table. */
#ifndef SERVE_API_H
#define SERVE_API_H

#include "serve/serve_exchange.h"

/* api_jobs.c */
void api_turn(struct exchange *exchange);
void api_call(struct exchange *exchange);
void api_run(struct exchange *exchange);

/* api_job.c */
void api_jobs(struct exchange *exchange);
void api_job(struct exchange *exchange);
void api_cancel(struct exchange *exchange);
void api_job_events(struct exchange *exchange);
void api_events(struct exchange *exchange);

/* api_answer.c */
void api_answer(struct exchange *exchange);

/* api_sessions.c */
void api_sessions(struct exchange *exchange);
void api_session(struct exchange *exchange);
void api_session_change(struct exchange *exchange);
void api_session_remove(struct exchange *exchange);
void api_messages(struct exchange *exchange);

/* api_state.c */
void api_health(struct exchange *exchange);
void api_ready(struct exchange *exchange);
void api_metrics(struct exchange *exchange);
void api_history(struct exchange *exchange);
void api_tokens(struct exchange *exchange);
void api_audit(struct exchange *exchange);

#endif
