/* The user's consent to what a plugin asks for: what they are shown, what they are asked, and the
 * options that answer in advance. */
#ifndef CLI_UI_CONSENT_H
#define CLI_UI_CONSENT_H

#include "cli/ui/console.h"
#include "cli/ui/page.h"
#include "plugins/plugin_install.h"

struct consent {
	bool yes;                  /* to all it asks for */
	bool trusts;               /* also an unverified source */
	struct option_list grants; /* words with commas between them */
	bool has_grants;
	struct capabilities granted; /* of these words */
};

/* For a table of options. */
#define CONSENT_OPTIONS(consent)                                                                   \
	{ "yes", 'y', OPTION_FLAG, &(consent)->yes }, { "trust", 0, OPTION_FLAG, &(consent)->trusts }, \
	{                                                                                              \
		"grant", 0, OPTION_LIST, &(consent)->grants                                                \
	}

/* Reads the words. Returns 0, or EXIT_USAGE after having said what is wrong. */
int consent_read(struct consent *consent);
void consent_free(struct consent *consent);

/* What the plugin is and asks for. */
void consent_describe(struct page *page, const struct candidate *candidate);

/* Shows that, on stderr. */
void consent_show(struct console *console, const struct candidate *candidate);

/* Whether its source may ask for that: 0, or -EPERM and the reason. A user who can be asked decides
 * later. */
int consent_check_trust(const struct console *console, const struct consent *consent,
	const struct candidate *candidate, perch_err *err);

/* Asks whether to install it and what of its wishes to grant: all, one by one, nothing. Fails as
 * the next does. */
int consent_grant(struct console *console, const struct consent *consent,
	const struct candidate *candidate, struct capabilities *ret_granted, perch_err *err);

/* 1 when the user agrees, by an option or asked now with this question; fails with -ECANCELED (they
 * do not) or -ENOTTY (no user can be asked; err names the options). */
int consent_get(struct console *console, const struct consent *consent, const char *question,
	const struct manifest *manifest, perch_err *err);

#endif
