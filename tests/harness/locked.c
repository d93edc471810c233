#include "harness/locked.h"

#include "harness/quarters.h"

#include <check.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/fscrypt.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* A key of fscrypt, in an argument for more than one call. */
union key {
	struct fscrypt_add_key_arg added;
	char bytes[sizeof(struct fscrypt_add_key_arg) + FSCRYPT_MAX_KEY_SIZE];
};

static bool locked_call(const char *path, unsigned long call, void *argument)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool is_done = ioctl(fd, call, argument) == 0;
	close(fd);
	return is_done;
}

static bool locked_add_key(const char *path, union key *ret_key)
{
	*ret_key = (union key){ .added.key_spec.type = FSCRYPT_KEY_SPEC_TYPE_IDENTIFIER };
	ret_key->added.raw_size = FSCRYPT_MAX_KEY_SIZE;
	memset(ret_key->bytes + sizeof(ret_key->added), 'k', FSCRYPT_MAX_KEY_SIZE);
	return locked_call(path, FS_IOC_ADD_ENCRYPTION_KEY, ret_key);
}

static bool locked_encrypt(const char *path)
{
	union key key;
	struct fscrypt_policy_v2 policy = {
		.version = FSCRYPT_POLICY_V2,
		.contents_encryption_mode = FSCRYPT_MODE_AES_256_XTS,
		.filenames_encryption_mode = FSCRYPT_MODE_AES_256_CTS,
	};
	if (!locked_add_key(path, &key))
		return false;
	memcpy(policy.master_key_identifier, key.added.key_spec.u.identifier,
		sizeof(policy.master_key_identifier));
	return locked_call(path, FS_IOC_SET_ENCRYPTION_POLICY, &policy);
}

void locked_unlock(void)
{
	union key key;
	ck_assert(locked_add_key(quarters_path("keys"), &key));
}

void locked_lock(void)
{
	union key key;
	ck_assert(locked_add_key(quarters_path("keys"), &key));
	struct fscrypt_remove_key_arg removed = { .key_spec = key.added.key_spec };
	sync();
	ck_assert(locked_call(quarters_path("keys"), FS_IOC_REMOVE_ENCRYPTION_KEY, &removed));
}

/* In a tree of mounts of our own. */
bool locked_can_be(void)
{
	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0)
		return false;
	quarters_prepare("mount --make-rprivate / && mkdir keys && truncate -s 16M image && "
					 "(mkfs.ext4 -q -O encrypt image && mount -o loop image keys && "
					 "mkdir keys/own && touch is-mounted) >/dev/null 2>&1 || :");
	return access("is-mounted", F_OK) == 0 && locked_encrypt(quarters_path("keys/own"));
}

void locked_end(void)
{
	quarters_prepare("umount keys 2>/dev/null || :");
}
