/* The cases of a protocol. */
#include "conformance/library.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/file.h"

void library_free(struct library *library)
{
	arena_free(&library->arena);
	*library = (struct library){ 0 };
}

static int library_first_mistake(const char *path, const struct findings *findings, perch_err *err)
{
	if (findings->failed || !findings->count)
		return err_no_memory(err);
	const struct finding *first = &findings->items[0];
	perch_err inner = { .code = PERCH_ESYNTAX, .line = first->at.line, .column = first->at.column };
	err_set_at(&inner, PERCH_ESYNTAX, first->at.line, first->at.column, "%s", first->text);
	return file_blame(err, path, &inner);
}

static int library_read_file(
	struct library *library, const char *path, enum protocol protocol, perch_err *err)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	struct library_file *file = &library->files[library->count];
	struct findings findings = { .arena = &library->arena };
	int r = file_read(path, CASES_FILE_MAX, &text, err);
	if (r < 0)
		return r;
	const char *copy = arena_dup(&library->arena, (struct str){ text.data, text.len });
	if (!copy)
		return err_no_memory(err);
	file->text = (struct str){ copy, text.len };
	case_file_parse(file->text, protocol, &library->arena, &file->file, &findings);
	if (findings.errors || findings.failed)
		r = library_first_mistake(path, &findings, err);
	else
		library->count++;
	findings_free(&findings);
	return r;
}

static int library_by_section(const void *left, const void *right)
{
	const struct library_file *a = left;
	const struct library_file *b = right;
	return (a->file.section > b->file.section) - (a->file.section < b->file.section);
}

static int library_read_files(struct library *library, DIR *directory, const char *path,
	enum protocol protocol, perch_err *err)
{
	const struct dirent *item;
	int r = 0;
	while (r == 0 && (item = readdir(directory))) {
		if (item->d_name[0] == '.' || !str_has_suffix(str_from(item->d_name), STR(".toml")))
			continue;
		_cleanup_free_ char *file = str_join(path, "/", item->d_name, NULL);
		if (library->count == LIBRARY_FILES_MAX)
			r = err_set(err, PERCH_ELIMIT, "%s holds more than %d files", path, LIBRARY_FILES_MAX);
		else
			r = file ? library_read_file(library, file, protocol, err) : err_no_memory(err);
	}
	return r;
}

int library_read(
	const char *directory, enum protocol protocol, struct library *library, perch_err *err)
{
	_cleanup_free_ char *path = str_join(directory, "/", protocol_names[protocol], NULL);
	library->files = arena_alloc(&library->arena, LIBRARY_FILES_MAX * sizeof(*library->files));
	if (!path || !library->files)
		return err_no_memory(err);
	DIR *listing = opendir(path);
	if (!listing)
		return err_set(err, -errno, "no cases in %s: %s", path, perch_strerror(-errno));
	int r = library_read_files(library, listing, path, protocol, err);
	closedir(listing);
	qsort(library->files, library->count, sizeof(*library->files), library_by_section);
	return r;
}
