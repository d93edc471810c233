/* The other side of a pipe, as a script: what it says is there from the start,
 * what was said to it is read in the end. */
#ifndef HARNESS_SCRIPT_H
#define HARNESS_SCRIPT_H

struct script {
	int in;  /* the tested program reads from it */
	int out; /* and to write to */
};

/* `text` is followed by the end of the stream. */
struct script script_begin(const char *text);

/* Everything that was written to `out`; the caller frees it. Ends the script. */
char *script_end(struct script *script);

#endif
