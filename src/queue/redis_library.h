/* The functions of queue/lua, as the program carries them. */
#ifndef QUEUE_REDIS_LIBRARY_H
#define QUEUE_REDIS_LIBRARY_H

#include "base/str.h"

/* The name of the library and the beginning of every function's: it has the interface's version. */
#define REDIS_LIBRARY "perch1"

/* A later one takes the place of an earlier one. */
long redis_library_revision(void);

struct str redis_library_functions(void);

/* The same text as a script. is_spare: one that runs where memory is full. */
struct str redis_library_script(bool is_spare);

/* Whether a function must run where memory is full. */
bool redis_library_is_spare(const char *function);

#endif
