/* The files of new plugins, as they stand in templates/. */
#ifndef PLUGINS_TEMPLATES_H
#define PLUGINS_TEMPLATES_H

struct template
{
	const char *path; /* in templates/: bash/program */
	const char *text;
};

extern const struct template templates[]; /* ends with a NULL path */

#endif
