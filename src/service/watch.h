/* Whether something that a catalogue is made of has changed. One inotify for all services of a
 * host; where it is refused, the files are looked at every two seconds. */
#ifndef SERVICE_WATCH_H
#define SERVICE_WATCH_H

#include "perch/host.h"

struct service_watch;

/* `changed` comes from the loop, once for all changes until service_watch_remember. -ENOMEM. */
int service_watch_new(
	perch_host *host, void (*changed)(void *data), void *data, struct service_watch **ret_watch);

/* What is there now is known. NULL is fine. */
void service_watch_remember(struct service_watch *watch);

/* NULL is fine. */
void service_watch_free(struct service_watch *watch);

#endif
