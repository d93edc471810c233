/* The worker: jobs in order, completions from the loop, an end that loses nothing. */
#include "harness/proc.h"
#include "harness/suite.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/host.h"
#include "proc/worker.h"

static atomic_uint next_order;

struct task {
	struct job job; /* the first member */
	unsigned order;
	pthread_t worked_by;
	bool is_done;
	sem_t *gate; /* what it waits for; NULL = nothing */
	sigset_t blocked;
};

static void task_work(struct job *job)
{
	struct task *task = (struct task *)job;
	if (task->gate)
		sem_wait(task->gate);
	task->order = next_order++;
	task->worked_by = pthread_self();
	pthread_sigmask(SIG_SETMASK, NULL, &task->blocked);
}

static void task_done(struct job *job)
{
	((struct task *)job)->is_done = true;
}

static struct task make_task(sem_t *gate)
{
	return (struct task){ .job = { .work = task_work, .done = task_done }, .gate = gate };
}

START_TEST(jobs_are_worked_in_order_and_told_by_the_loop)
{
	enum { TASKS = 100 };
	static struct task tasks[TASKS];
	perch_host *host = proc_host();
	struct worker *worker = worker_of(host);
	ck_assert_ptr_eq(worker_of(host), worker);
	for (int i = 0; i < TASKS; i++) {
		tasks[i] = make_task(NULL);
		worker_take(worker, &tasks[i].job);
		ck_assert(!tasks[i].is_done);
	}
	proc_until(host, &tasks[TASKS - 1].is_done);
	for (unsigned i = 0; i < TASKS; i++) {
		ck_assert(tasks[i].is_done);
		ck_assert_uint_eq(tasks[i].order, i);
		ck_assert(!pthread_equal(tasks[i].worked_by, pthread_self()));
		ck_assert(
			sigismember(&tasks[i].blocked, SIGTERM) && sigismember(&tasks[i].blocked, SIGCHLD));
	}
	perch_host_free(host);
}
END_TEST

START_TEST(the_loop_goes_on_while_a_job_waits)
{
	sem_t gate;
	sem_init(&gate, 0, 0);
	perch_host *host = proc_host();
	struct task task = make_task(&gate);
	worker_take(worker_of(host), &task.job);
	struct record record = { 0 };
	proc_run(host, CHILD("exit", "0"), &record);
	ck_assert(!task.is_done);
	sem_post(&gate);
	proc_until(host, &task.is_done);
	record_free(&record);
	perch_host_free(host);
}
END_TEST

static void *open_gate(void *gate)
{
	usleep(20000);
	sem_post(gate);
	return NULL;
}

START_TEST(an_owner_that_ends_waits_for_its_job_and_hears_nothing)
{
	sem_t gate;
	sem_init(&gate, 0, 0);
	perch_host *host = proc_host();
	struct worker *worker = worker_of(host);
	struct task first = make_task(&gate), second = make_task(NULL);
	worker_settle(worker, &first.job); /* idle */
	worker_take(worker, &first.job);
	worker_take(worker, &second.job);
	pthread_t thread;
	ck_assert_int_eq(pthread_create(&thread, NULL, open_gate, &gate), 0);
	worker_settle(worker, &first.job);
	ck_assert(first.worked_by && first.job.state == JOB_IDLE);
	proc_until(host, &second.is_done);
	ck_assert(!first.is_done);
	pthread_join(thread, NULL);
	perch_host_free(host);
}
END_TEST

START_TEST(the_end_of_the_host_loses_no_work)
{
	enum { TASKS = 20 };
	static struct task tasks[TASKS];
	perch_host *host = proc_host();
	for (int i = 0; i < TASKS; i++) {
		tasks[i] = make_task(NULL);
		worker_take(worker_of(host), &tasks[i].job);
	}
	perch_host_free(host);
	for (int i = 0; i < TASKS; i++)
		ck_assert(tasks[i].worked_by != 0 && !tasks[i].is_done);
}
END_TEST

START_TEST(a_fork_of_the_program_can_end_its_host)
{
	sem_t gate;
	sem_init(&gate, 0, 0);
	perch_host *host = proc_host();
	struct task task = make_task(&gate);
	worker_take(worker_of(host), &task.job);
	pid_t fork_pid = fork();
	if (fork_pid == 0) {
		alarm(20);
		perch_host_free(host);
		_exit(0);
	}
	int status = -1;
	ck_assert_int_eq(waitpid(fork_pid, &status, 0), fork_pid);
	ck_assert_int_eq(status, 0);
	sem_post(&gate);
	proc_until(host, &task.is_done);
	perch_host_free(host);
}
END_TEST

/* As a user who may have no more processes. */
START_TEST(without_a_thread_the_work_is_done_at_once)
{
	struct rlimit before;
	perch_host *host = proc_host();
	if (geteuid() == 0) {
		ck_assert_int_eq(setgid(54321), 0);
		ck_assert_int_eq(setuid(54321), 0);
	}
	prctl(PR_SET_DUMPABLE, 1); /* for a sanitizer that looks for leaks */
	ck_assert_int_eq(getrlimit(RLIMIT_NPROC, &before), 0);
	const struct rlimit none = { 0, before.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NPROC, &none), 0);
	struct task task = make_task(NULL);
	worker_take(worker_of(host), &task.job);
	ck_assert(pthread_equal(task.worked_by, pthread_self()) && !task.is_done);
	ck_assert_int_eq(setrlimit(RLIMIT_NPROC, &before), 0);
	proc_until(host, &task.is_done);
	perch_host_free(host);
}
END_TEST

SUITE_MAIN("worker", jobs_are_worked_in_order_and_told_by_the_loop,
	the_loop_goes_on_while_a_job_waits, an_owner_that_ends_waits_for_its_job_and_hears_nothing,
	the_end_of_the_host_loses_no_work, a_fork_of_the_program_can_end_its_host,
	without_a_thread_the_work_is_done_at_once)
