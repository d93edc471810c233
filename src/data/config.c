/* Files of settings. */
#include "data/config.h"

#include <errno.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/paths.h"

static int config_parse(struct str text, config_reader *read, void *data, perch_err *err)
{
	_cleanup_(toml_freep) struct toml *toml = NULL;
	int r = toml_parse(text, NULL, &toml, err);
	return r < 0 ? r : read(toml_root(toml), data, err);
}

int config_read(const char *directory, config_reader *read, void *data, perch_err *err)
{
	_cleanup_free_ char *path = str_join(directory, "/config.toml", NULL);
	_cleanup_(buf_free) struct buf text = { 0 };
	perch_err inner = { 0 }; /* that there is no file is no error */
	if (!path)
		return err_no_memory(err);
	int r = file_read(path, CONFIG_MAX, &text, &inner);
	if (r < 0 && r != -ENOENT)
		return err_set(err, r, "%s", inner.text);
	inner = (perch_err){ 0 };
	r = config_parse((struct str){ text.data, text.len }, read, data, &inner);
	if (r == -ENOMEM)
		return err_no_memory(err);
	return r < 0 ? file_blame(err, path, &inner) : 0;
}

int config_read_own(config_reader *read, void *data, perch_err *err)
{
	_cleanup_free_ char *directory = NULL;
	int r = paths_user(PATH_CONFIG, "perch", &directory, err);
	return r < 0 ? r : config_read(directory, read, data, err);
}

struct stat config_own_stamp(void)
{
	struct stat stamp;
	_cleanup_free_ char *path = NULL;
	bool is_there =
		paths_user(PATH_CONFIG, "perch/config.toml", &path, NULL) == 0 && stat(path, &stamp) == 0;
	return is_there ? stamp : (struct stat){ 0 };
}
