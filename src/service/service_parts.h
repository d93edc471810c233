/* Inside of a service: its jobs, by how far they are, and what each kind of job does at each step.
 * service.c makes it, job_take.c takes jobs, job.c brings them to their end, job_tool.c, job_run.c
 * and job_turn.c are the kinds. */
#ifndef SERVICE_SERVICE_PARTS_H
#define SERVICE_SERVICE_PARTS_H

#include "agent/profiles.h"
#include "agent/sessions_api.h"
#include "agent/turn.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/list.h"
#include "perch/json.h"
#include "perch/service.h"
#include "proc/timers.h"
#include "service/bound_tools.h"
#include "service/expose.h"
#include "tool/audit_log.h"

enum {
	SERVICE_JOBS = 16,
	SERVICE_QUEUE = 1024,
	JOB_ROOM = 512, /* bytes for the texts of a job: most need no more */
};
#define SERVICE_QUEUE_BYTES ((size_t)64 * 1024 * 1024)

enum job_stage {
	JOB_BEHIND,  /* behind another turn of its session */
	JOB_READY,   /* may run, but too many do */
	JOB_ASKING,  /* must be approved first */
	JOB_LEAVING, /* will never run: that is to be told from the loop */
	JOB_RUNNING,
	JOB_ENDING, /* over, but its end is not recorded yet */
	JOB_ENDED,  /* told */
	JOB_STAGES,
};

/* An open question, with memory of its own. */
struct job_ask {
	struct link link;
	perch_ask ask;
	struct arena arena;
	uint64_t inner; /* the number that a plugin's run has for it */
};

struct tool_job {
	const char *binding; /* the parts of its name; */
	const char *tool;
	bool is_file;             /* the binding is the path of one */
	const char *session;      /* the client session whose MCP server is to serve it */
	struct bound_tool *bound; /* while it runs */
	struct tool_call *call;
	perch_tool_request given; /* context and clocks */
	const char *approval;     /* what approved it; NULL = nothing yet */
	const char *refusal;      /* the words of the user who said no */
	struct tool_passage passage;
	struct list samplings; /* struct job_sampling: what an agent is asked for its server */
	perch_tool_result result;
	bool is_done; /* but held: to be told later */
};

struct run_job {
	perch_fledge_run *run;
	perch_fledge_options given; /* how it is run */
	bool asks;                  /* it must be approved first */
	const char *approval;       /* what approved it */
	const char *refusal;
};

struct turn_job {
	struct cached_profile *profile;
	struct session_turn *session; /* until its end is recorded; NULL = nothing is stored */
	struct agent_turn *turn;
	struct agent_turn_options options;
	struct session_key key;
	uint32_t key_hash;
	const char *given_id; /* instead of the stored one; NULL = none */
	bool was_started;
	struct buf permits; /* tools that were allowed in this turn for more than once, a line each */
	perch_agent_end end;
};

struct job_kind;

struct perch_job {
	struct link link;
	perch_service *service;
	const struct job_kind *kind;
	/* Of a job of the service's own: where its maker keeps it, who is to forget it when it is
	 * freed. It takes nobody's place, and no frontend need be shown what it uses. NULL = it is a
	 * frontend's. */
	perch_job **keeper;
	enum job_stage stage; /* and in the list of it */
	bool is_expected;     /* it could run at once when it came, so it takes a place already */
	bool has_run;         /* it takes a place until its end is told, and its process has left */
	bool is_early;        /* it runs, and is told of when the end of another was told */
	bool is_leaving;      /* its end was told, and its process is still there */
	bool is_orphan;       /* the same, and nobody has it any more: it frees itself */
	bool is_held;
	bool was_cancelled;
	bool timed_out;
	bool has_timer;
	int signal;                /* that cancelled it */
	struct arena arena;        /* begins in `room` */
	perch_job_request request; /* its texts in the arena */
	size_t bytes;              /* its share of queue_bytes; 0 once it has ended */
	uint64_t submitted_ns;
	struct timer deadline;
	struct list asks;    /* open questions */
	uint64_t asked;      /* how many there were */
	struct buf json;     /* of the last event */
	struct trace *trace; /* what is recorded of it; NULL = nothing, or it is a tool's */
	union {
		struct tool_job tool;
		struct run_job run;
		struct turn_job turn;
	};
	_Alignas(max_align_t) char room[JOB_ROOM];
};

/* Every function is called from the loop, but for take, cancel, hold, answer and free. */
struct job_kind {
	const char *plural;
	/* Checks and copies what is the kind's own. */
	int (*take)(perch_job *job, const perch_job_request *request, perch_err *err);
	/* Has the job wait for others; the kind calls job_is_ready when that is over. NULL = jobs of
	 * this kind never wait so. */
	int (*queue)(perch_job *job, perch_err *err);
	bool (*is_behind)(const perch_job *job, const perch_job *other);
	/* It has a place: begins, or asks first, or ends. */
	void (*start)(perch_job *job);
	void (*cancel)(perch_job *job, int signal);
	/* It never ran: tells why and ends it. */
	void (*leave)(perch_job *job);
	void (*hold)(perch_job *job, bool is_held);
	/* Whether it can run before it may be told of; and it may be now. NULL = no. */
	bool (*may_be_early)(const perch_job *job);
	void (*show)(perch_job *job);
	int (*answer)(perch_job *job, struct job_ask *ask, const perch_answer *answer, perch_err *err);
	/* Its line in the audit log; NULL = it writes that by itself. */
	void (*record)(perch_job *job, const perch_job_end *end);
	/* The members of its `start` event. */
	void (*write_start)(const perch_job *job, struct perch_json_writer *out);
	/* See perch_job_grace_ns; NULL = 0. */
	uint64_t (*grace_ns)(const perch_job *job);
	void (*free)(perch_job *job);
};

/* ---- job_tool_take.c --------------------------------------------------------- */

int job_tool_take(perch_job *job, const perch_job_request *given, perch_err *err);

/* ---- job_passage.c ----------------------------------------------------------- */

/* What a job asks of an MCP server beyond a call: checked, copied, and whether the frontend is
 * shown it (else -ENOENT). -EINVAL, -ENOMEM. */
int job_passage_take(perch_job *job, const perch_job_request *given, perch_err *err);
/* "BINDING/METHOD" is no call that is listed in the audit log. */
bool job_passage_is_noted(const perch_job *job);
/* It is over without a process; false: it is not. */
bool job_passage_is_unwatch(const perch_job *job);
void job_passage_unwatch(perch_job *job);
int job_passage_answer(
	perch_job *job, struct job_ask *ask, const perch_answer *answer, perch_err *err);

/* ---- job_sampling.c ---------------------------------------------------------- */

/* Has an agent answer, or refuses. */
struct server_quiz;
struct mcp_quizzed;
void job_sampling_ask(
	perch_job *job, struct server_quiz *quiz, const struct mcp_quizzed *quizzed, const char *agent);
/* Its answer is not wanted any more; false: no agent was asked. */
bool job_sampling_withdraw(perch_job *job, const struct server_quiz *quiz);

extern const struct job_kind job_kind_tool;
extern const struct job_kind job_kind_run;
extern const struct job_kind job_kind_turn;

struct service_watch;

struct perch_service {
	perch_host *host;
	perch_service_options options; /* zeros are replaced by the defaults they stand for */
	struct arena arena;            /* of the options */
	struct exposure exposure;      /* as it was when the catalogue was asked for last */
	struct arena exposure_arena;
	struct stat config_stamp;
	struct audit audit;
	perch_err no_audit; /* why its settings could not be read; code 0 = they could */
	struct bound_tools tools;
	struct profiles profiles;
	struct residents *residents; /* agents that serve many turns; NULL = none is kept */
	perch_sessions stored;       /* its `sessions` NULL = not opened yet, or nothing is stored */
	struct trace *trace;         /* NULL = none */
	struct trace *tool_trace;    /* its part for tools: a server of them outlives its calls */
	bool has_trace_head;
	struct timer trace_due; /* what was recorded is to be written */
	bool has_trace_timer;
	struct list jobs[JOB_STAGES];
	size_t expected;
	size_t inner;  /* of the service's own, that are not freed yet */
	size_t ending; /* of those that have run: whose end is not told yet, or that are leaving */
	size_t leaving;
	size_t bad_exits; /* behind an answer that was told */
	size_t early;     /* of those that run */
	size_t bytes;
	struct timer step; /* what is to be done from the loop */
	bool has_step;
	bool is_closed;
	struct service_watch *watch;
	struct buf texts[3]; /* with a NUL behind: for one event */
};

/* ---- service.c ------------------------------------------------------------- */

/* Reads [expose] again; it stays as it is where that fails. */
int service_read_exposure(perch_service *service, perch_err *err);
/* The same where its file has changed since. */
void service_renew_exposure(perch_service *service);
/* What tells the MCP server of a session from those of others. NULL without memory. */
const char *service_session(struct arena *arena, const char *caller, const char *session);
void service_warn(perch_service *service, const char *format, ...) PERCH_PRINTF(2, 3);

/* Runs and turns for a frontend are recorded as calls are: whether one could be, and its line. */
int service_may_record(const perch_service *service, perch_err *err);
void service_record(perch_service *service, struct audit_job job, const perch_caller *caller);

/* Opens the sessions of agents now, not with the first turn. Fails as sessions_open does. */
int service_open_sessions(perch_service *service, perch_err *err);

/* ---- service_trace.c -------------------------------------------------------- */

/* Opens what the options name; nothing where they name nothing. */
int service_trace_open(perch_service *service, perch_err *err);
/* Before the process: what is run, which is the head of the trace where it is the first. The part
 * of the trace that is the job's, or NULL. */
struct trace *service_trace_start(perch_job *job, const char *command, const char *const *args);
void service_trace_close(perch_service *service);

/* ---- job.c ---------------------------------------------------------------- */

void job_deadline_due(struct timer *timer, uint64_t now_ns);

/* Has the rest done from the loop. */
void service_step(struct timer *timer, uint64_t now_ns);
void service_step_soon(perch_service *service);

void job_move(perch_job *job, enum job_stage stage);
void job_is_ready(perch_job *job);
/* The job will not run: the `leave` of its kind is called from the loop. */
void job_leave(perch_job *job);

/* A text with a NUL, valid during one event. Without memory it is empty. */
perch_text job_text(perch_job *job, int which, struct str text);

/* Telling the sink. */
void job_tell(perch_job *job, const perch_event *event);
void job_tell_start(perch_job *job);
void job_tell_text(perch_job *job, perch_event_kind kind, struct str text);
void job_tell_error(perch_job *job, const char *code, struct str text);

/* Frees its place for the next job; its end is still to be told. */
void job_is_over(perch_job *job);

/* The last event; the job may be gone afterwards. Fills in what the job itself knows. */
void job_end(perch_job *job, perch_job_end end);

/* The process of a job that `is_leaving` is gone. The job may be, too, afterwards. */
void job_has_left(perch_job *job);

/* Frees it, and ends what is left of it at once. */
void job_remove(perch_job *job);

/* How much of its time is left; NEVER = it has no deadline. */
uint64_t job_time_left(const perch_job *job);

/* ---- job_take.c ----------------------------------------------------------- */

/* A job of the service's own (see `keeper`), which is *ret_job until it is freed. Fails as
 * perch_job_submit. */
int job_submit_inner(
	perch_service *service, const perch_job_request *request, perch_job **ret_job, perch_err *err);

/* Frees a job that is in no list. */
void job_discard(perch_job *job);

/* ---- job_ask.c ------------------------------------------------------------ */

/* Tells a question; its texts are copied. -ENOMEM. */
int job_ask(perch_job *job, const perch_ask *ask, uint64_t inner);
struct job_ask *job_ask_find(const perch_job *job, uint64_t number);
/* It is answered. */
void job_ask_close(perch_job *job, struct job_ask *ask);
/* No answer is needed any more. */
void job_ask_withdraw(perch_job *job, struct job_ask *ask);
void job_ask_withdraw_all(perch_job *job);
void job_ask_free_all(perch_job *job);

#endif
