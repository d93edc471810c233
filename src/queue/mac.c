/* The HMAC of a job, by which a worker trusts it. */
#include "queue/mac.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/file.h"
#include "base/macros.h"

int mac_read_key(const char *path, struct buf *ret_key, perch_err *err)
{
	struct stat facts;
	if (stat(path, &facts) == 0 && facts.st_mode & (S_IRWXG | S_IRWXO))
		return err_set(err, -EPERM, "%s can be read by others: chmod 600", path);
	int r = file_read(path, MAC_KEY_MAX, ret_key, err);
	while (r == 0 && ret_key->len && ret_key->data[ret_key->len - 1] == '\n')
		ret_key->len--;
	if (r == 0 && ret_key->len < MAC_KEY_MIN)
		r = err_set(err, -EINVAL, "the key in %s is shorter than %d bytes: openssl rand -hex 32",
			path, MAC_KEY_MIN);
	return r;
}

void mac_make(const struct buf *key, const struct queue_job *job, char ret_mac[SHA256_HEX_SIZE])
{
	const struct str fields[] = { job->id, job->kind, job->name, job->owner, job->session,
		job->need, job->request };
	char retries[24];
	struct hmac hmac;
	hmac_begin(&hmac, key->data, key->len);
	for (size_t i = 0; i < COUNT(fields); i++)
		hmac_add_field(&hmac, fields[i].data, fields[i].len);
	int len = snprintf(retries, sizeof(retries), "%" PRId64, job->retries);
	hmac_add_field(&hmac, retries, (size_t)len);
	hmac_end(&hmac, ret_mac);
}

bool mac_is_right(const struct buf *key, const struct queue_job *job)
{
	char expected[SHA256_HEX_SIZE], given[SHA256_HEX_SIZE] = { 0 };
	if (job->mac.len != SHA256_HEX_SIZE - 1)
		return false;
	memcpy(given, job->mac.data, job->mac.len);
	mac_make(key, job, expected);
	return hmac_is(expected, given);
}
