/* A home directory for a process that is not to see its user's, in memory where there is such a
 * file system: a fuzz target writes there for each of its inputs. */
#ifndef HARNESS_HOME_H
#define HARNESS_HOME_H

/* Makes it, with "perch" inside, and lets HOME and the XDG directories of configuration, state and
 * data lead there; it is gone when the process ends. Once. Fails with -EIO. */
int home_open(void);

#endif
