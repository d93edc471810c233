/* The files of new plugins, as they stand in templates/. */
#ifndef PLUGINS_TEMPLATES_H
#define PLUGINS_TEMPLATES_H

#include "base/embedded.h"

extern const struct embedded templates[]; /* ends with a NULL path */

#endif
