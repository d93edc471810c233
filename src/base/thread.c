/* A thread of our own. */
#include "base/thread.h"

#include <errno.h>
#include <signal.h>

/* Many times what SQLite may need. */
enum { THREAD_STACK = 512 * 1024 };

int thread_start(pthread_t *ret_thread, void *(*run)(void *data), void *data)
{
	pthread_attr_t attributes;
	sigset_t all;
	sigset_t before;
	if (pthread_attr_init(&attributes) != 0)
		return -ENOMEM;
	pthread_attr_setstacksize(&attributes, THREAD_STACK);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(ret_thread, &attributes, run, data);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return -error;
}
