/* Matching paths with patterns, segment by segment. */
#include "wire/http_router.h"

#include <string.h>

static bool router_is_any(struct str word)
{
	return str_is(word, "{}");
}

static bool router_is_rest(struct str word)
{
	return str_is(word, "{*}");
}

/* From the segment at this place to the end of the path. */
static struct str router_rest(const struct http_segments *segments, size_t at)
{
	struct str last = segments->items[segments->count - 1];
	const char *begin = segments->items[at].data;
	return (struct str){ begin, (size_t)(last.data + last.len - begin) };
}

static void router_keep(struct http_match *match, struct str parameter)
{
	if (match->parameter_count < HTTP_PARAMETERS_MAX)
		match->parameters[match->parameter_count++] = parameter;
}

/* Whether the word at this place of a pattern is the segment; steps behind it. */
static bool router_is_word(const char **pattern, struct str segment)
{
	if (**pattern != segment.data[0] || strncmp(*pattern, segment.data, segment.len) != 0)
		return false;
	*pattern += segment.len;
	return **pattern == '/' || **pattern == '\0';
}

/* Whether the segments fit the pattern; fills in the parameters of *match. */
static bool router_fits(
	const char *pattern, const struct http_segments *segments, struct http_match *match)
{
	match->parameter_count = 0;
	for (size_t at = 0; at < segments->count; at++) {
		if (*pattern++ != '/')
			return false;
		if (*pattern != '{') {
			if (!router_is_word(&pattern, segments->items[at]))
				return false;
			continue;
		}
		if (pattern[1] == '*') {
			router_keep(match, router_rest(segments, at));
			return true;
		}
		router_keep(match, segments->items[at]);
		pattern += 2;
	}
	return *pattern == '\0' || strcmp(pattern, "/") == 0;
}

static unsigned router_methods(const struct http_route *route)
{
	unsigned get = route->methods & HTTP_BIT(HTTP_GET);
	return route->methods | (get ? HTTP_BIT(HTTP_HEAD) : 0);
}

struct http_match http_route_find(
	const struct http_routes *routes, enum http_method method, struct str path)
{
	struct http_segments segments;
	struct http_match found = { .status = 404 }, match; /* filled in by the first that fits */
	if (http_path_split(path, &segments) < 0)
		return found;
	for (size_t i = 0; i < routes->count; i++) {
		if (!router_fits(routes->items[i].pattern, &segments, &match))
			continue;
		match.handler = routes->items[i].handler;
		match.status = 200;
		unsigned methods = router_methods(&routes->items[i]);
		match.allowed = found.allowed | methods;
		if (found.status != 200 && methods & HTTP_BIT(method))
			found = match;
		found.allowed = match.allowed;
		if (found.status == 404)
			found.status = 405;
	}
	return found;
}

static bool router_is_pattern(const char *pattern)
{
	struct http_segments words;
	size_t parameters = 0;
	if (http_path_split(str_from(pattern), &words) < 0)
		return false;
	for (size_t i = 0; i < words.count; i++) {
		if (router_is_rest(words.items[i]) && i + 1 < words.count)
			return false;
		bool is_parameter = router_is_rest(words.items[i]) || router_is_any(words.items[i]);
		if (!is_parameter && words.items[i].data[0] == '{')
			return false;
		parameters += is_parameter;
	}
	return parameters <= HTTP_PARAMETERS_MAX;
}

bool http_routes_are_valid(const struct http_routes *routes)
{
	for (size_t i = 0; i < routes->count; i++) {
		const struct http_route *route = &routes->items[i];
		if (!router_is_pattern(route->pattern) || route->methods == 0 ||
			route->methods >= HTTP_BIT(HTTP_METHOD_COUNT))
			return false;
		/* A pattern is a path as well: what fits it above is what would hide it. */
		const struct http_routes above = { routes->items, i };
		struct str path = str_from(route->pattern);
		for (enum http_method method = 0; method < HTTP_METHOD_COUNT; method++)
			if (route->methods & HTTP_BIT(method) &&
				http_route_find(&above, method, path).status == 200)
				return false;
	}
	return true;
}
