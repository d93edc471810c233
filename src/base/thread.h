/* A thread of our own beside the threads of the program. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>

/* Starts a thread that no signal interrupts: signals are for the threads of the program. Returns 0
 * or a negative errno. */
int thread_start(pthread_t *ret_thread, void *(*run)(void *data), void *data);

#endif
