/* The page's files. They are packed when perch is built, and sent so: they are requested by
 * browsers, and a request that names no codings accepts any (RFC 9110, 12.5.3). */
#include "serve/serve_page.h"

#include <string.h>

#include "base/macros.h"
#include "serve/serve_exchange.h"
#include "wire/http_request.h"
#include "wire/http_text.h"

/* Nothing runs but our own files, nothing is shown from elsewhere, and no site frames it. */
#define PAGE_POLICY                                                                    \
	"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "    \
	"worker-src 'self'; img-src 'self' data: blob:; frame-ancestors 'none'; base-uri " \
	"'none'; form-action 'none'"

/* "gzip", "gzip;q=0.5", "*"; not "gzip;q=0". */
static bool page_coding_fits(struct str item)
{
	struct str name = str_trim(str_cut(&item, ';'));
	struct str weight = str_trim(item);
	if (!http_same_word(name, STR("gzip")) && !str_is(name, "*"))
		return false;
	if (weight.len < 3 || !http_same_word((struct str){ weight.data, 2 }, STR("q=")))
		return true;
	for (size_t i = 2; i < weight.len; i++) {
		if (weight.data[i] != '0' && weight.data[i] != '.')
			return true;
	}
	return false;
}

static bool page_may_be_packed(const struct exchange *exchange)
{
	struct str codings;
	if (!http_request_get(exchange->request, "Accept-Encoding", &codings))
		return true;
	while (codings.len) {
		if (page_coding_fits(str_cut(&codings, ',')))
			return true;
	}
	return false;
}

/* Whether the browser has it already. */
static bool page_is_known(const struct exchange *exchange, const struct page_file *file)
{
	struct str tags = exchange_field(exchange, "If-None-Match");
	while (tags.len) {
		struct str tag = str_trim(str_cut(&tags, ','));
		if (str_has_prefix(tag, STR("W/")))
			tag = (struct str){ tag.data + 2, tag.len - 2 };
		if (str_is(tag, file->tag) || str_is(tag, "*"))
			return true;
	}
	return false;
}

static void page_send(struct exchange *exchange, const struct page_file *file)
{
	const struct http_field fields[] = {
		{ STR("ETag"), str_from(file->tag) },
		{ STR("Vary"), STR("Accept-Encoding") },
		{ STR("Content-Security-Policy"), STR(PAGE_POLICY) },
		{ STR("Referrer-Policy"), STR("no-referrer") },
		{ STR("Content-Encoding"), STR("gzip") },
	};
	exchange->is_kept = true;
	if (page_is_known(exchange, file))
		exchange_answer(
			exchange, 304, file->type, (struct str){ "", 0 }, fields, COUNT(fields) - 1);
	else if (page_may_be_packed(exchange))
		exchange_answer(exchange, 200, file->type,
			(struct str){ (const char *)file->data, file->size }, fields, COUNT(fields));
	else
		exchange_error(exchange, 406, "coding", "send Accept-Encoding: gzip",
			"the page's files are packed by gzip");
}

static void page_find(struct exchange *exchange, const char *name)
{
	for (const struct page_file *file = page_files; file->name; file++) {
		if (strcmp(file->name, name) == 0) {
			page_send(exchange, file);
			return;
		}
	}
	exchange_error(exchange, 404, "not_found", NULL, "the page has no such file");
}

void page_index(struct exchange *exchange)
{
	page_find(exchange, "index.html");
}

void page_get(struct exchange *exchange)
{
	page_find(exchange, exchange->parameters[0]);
}
