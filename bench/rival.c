/* Reading and writing JSON: ours beside yyjson, in one run. `./dev bench json` fetches its source
 * and builds this program, with the compiler and the optimiser of perch; nothing of it is kept.
 *
 * perch has one document and one writer for everything, as its programs do. yyjson is measured with
 * malloc and with a pool of its own that is kept, and the faster of both counts. */
#include "rival.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "bench.h"
#include "data/json.h"

static const double most = 1.1; /* of its time may be ours */

enum { POOL_SIZE = 64 << 20 };

struct contest {
	const struct content *content;
	perch_json *document;
	struct buf out;
	const char *text;
	size_t length;
	void *pool;
	double found; /* the last that was looked up */
};

static void rival_parse_ours(void *data)
{
	struct contest *contest = data;
	const perch_json_value *root;
	if (perch_json_parse(contest->document, contest->text, contest->length, &root, NULL) < 0)
		abort();
	contest->found = contest->content->read_ours(root);
	perch_json_clear(contest->document);
}

static void rival_parse_theirs(struct contest *contest, const yyjson_alc *memory)
{
	yyjson_doc *doc = yyjson_read_opts((char *)contest->text, contest->length, 0, memory, NULL);
	if (!doc)
		abort();
	contest->found = contest->content->read_theirs(yyjson_doc_get_root(doc));
	yyjson_doc_free(doc);
}

static void rival_write_ours(void *data)
{
	struct contest *contest = data;
	buf_clear(&contest->out);
	struct perch_json_writer writer = json_writer_on(&contest->out);
	contest->content->write_ours(contest->content, &writer);
	bench_keep(contest->out.data);
	contest->found = (double)contest->out.len;
}

static void rival_write_theirs(struct contest *contest, const yyjson_alc *memory)
{
	size_t length;
	yyjson_mut_doc *doc = yyjson_mut_doc_new(memory);
	yyjson_mut_doc_set_root(doc, contest->content->write_theirs(contest->content, doc));
	char *text = yyjson_mut_write_opts(doc, 0, memory, &length, NULL);
	bench_keep(text);
	if (!text)
		abort();
	if (memory)
		memory->free(memory->ctx, text);
	else
		free(text);
	yyjson_mut_doc_free(doc);
	contest->found = (double)length;
}

/* Both of its ways to get memory, for both things that are done. */

static void rival_parse_malloc(void *data)
{
	rival_parse_theirs(data, NULL);
}

static void rival_parse_pool(void *data)
{
	struct contest *contest = data;
	yyjson_alc memory;
	yyjson_alc_pool_init(&memory, contest->pool, POOL_SIZE);
	rival_parse_theirs(contest, &memory);
}

static void rival_write_malloc(void *data)
{
	rival_write_theirs(data, NULL);
}

static void rival_write_pool(void *data)
{
	struct contest *contest = data;
	yyjson_alc memory;
	yyjson_alc_pool_init(&memory, contest->pool, POOL_SIZE);
	rival_write_theirs(contest, &memory);
}

struct discipline {
	const char *name;
	void (*ours)(void *data);
	void (*with_malloc)(void *data);
	void (*with_pool)(void *data);
};

static const struct discipline disciplines[] = {
	{ "parse", rival_parse_ours, rival_parse_malloc, rival_parse_pool },
	{ "write", rival_write_ours, rival_write_malloc, rival_write_pool },
};

/* The same must come out of it: doubles are the only ones that each writes in its own way. */
static void rival_compare_results(const struct discipline *discipline, struct contest *contest)
{
	discipline->ours(contest);
	double ours = contest->found;
	discipline->with_malloc(contest);
	if (ours != contest->found && discipline->ours == rival_parse_ours)
		abort();
}

static void rival_run(const struct discipline *discipline, struct contest *contest)
{
	char name[64];
	snprintf(name, sizeof(name), "json/%s-%s", discipline->name, contest->content->name);
	rival_compare_results(discipline, contest);
	struct bench_side sides[] = {
		{ .body = discipline->ours, .data = contest },
		{ .body = discipline->with_malloc, .data = contest },
		{ .body = discipline->with_pool, .data = contest },
	};
	bench_sides(sides, 3);
	bool is_pool = sides[2].best_ns < sides[1].best_ns;
	double theirs = bench_smaller(sides[1].best_ns, sides[2].best_ns);
	bench_print(name, "ours", sides[0].best_ns, "ns");
	bench_print(name, is_pool ? "yyjson-pool" : "yyjson-malloc", theirs, "ns");
	bench_print_most(name, "vs-yyjson", sides[0].best_ns / theirs, "x", most);
}

/* All contents, or those whose name is given. */
int main(int count, char **names)
{
	contents_prepare();
	struct contest contest = { .pool = malloc(POOL_SIZE) };
	if (!contest.pool || perch_json_new(NULL, &contest.document) < 0)
		abort();
	for (size_t i = 0; i < contents_count; i++) {
		if (count > 1 && strcmp(names[1], contents[i].name) != 0)
			continue;
		contest.content = &contents[i];
		rival_write_ours(&contest);
		struct buf text = { 0 };
		buf_append(&text, contest.out.data, contest.out.len);
		contest.text = text.data;
		contest.length = text.len;
		for (size_t k = 0; k < sizeof(disciplines) / sizeof(disciplines[0]); k++)
			rival_run(&disciplines[k], &contest);
		buf_free(&text);
	}
	perch_json_free(contest.document);
	buf_free(&contest.out);
	free(contest.pool);
	return 0;
}
