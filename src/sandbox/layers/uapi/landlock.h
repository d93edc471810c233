/* Landlock as the kernel speaks it, up to ABI 9: numbers of its interface, here
 * because the headers of a distribution may be years older than its kernel. */
#ifndef SANDBOX_LAYERS_UAPI_LANDLOCK_H
#define SANDBOX_LAYERS_UAPI_LANDLOCK_H

#include <stdint.h>

enum { LANDLOCK_ABI_KNOWN = 9 };

/* The same on every architecture. */
enum {
	NR_LANDLOCK_CREATE_RULESET = 444,
	NR_LANDLOCK_ADD_RULE = 445,
};

enum { RULESET_VERSION = 1 << 0 }; /* a flag: say which ABI this is */
enum { RULE_PATH_BENEATH = 1 };

#define FS_EXECUTE (UINT64_C(1) << 0)
#define FS_WRITE_FILE (UINT64_C(1) << 1)
#define FS_READ_FILE (UINT64_C(1) << 2)
#define FS_READ_DIR (UINT64_C(1) << 3)
#define FS_REMOVE_DIR (UINT64_C(1) << 4)
#define FS_REMOVE_FILE (UINT64_C(1) << 5)
#define FS_MAKE_CHAR (UINT64_C(1) << 6)
#define FS_MAKE_DIR (UINT64_C(1) << 7)
#define FS_MAKE_REG (UINT64_C(1) << 8)
#define FS_MAKE_SOCK (UINT64_C(1) << 9)
#define FS_MAKE_FIFO (UINT64_C(1) << 10)
#define FS_MAKE_BLOCK (UINT64_C(1) << 11)
#define FS_MAKE_SYM (UINT64_C(1) << 12)
#define FS_REFER (UINT64_C(1) << 13)        /* ABI 2 */
#define FS_TRUNCATE (UINT64_C(1) << 14)     /* ABI 3 */
#define FS_IOCTL_DEV (UINT64_C(1) << 15)    /* ABI 5 */
#define FS_RESOLVE_UNIX (UINT64_C(1) << 16) /* ABI 9 */

#define NET_BIND_TCP (UINT64_C(1) << 0)    /* ABI 4 */
#define NET_CONNECT_TCP (UINT64_C(1) << 1) /* ABI 4 */

#define SCOPE_ABSTRACT_UNIX_SOCKET (UINT64_C(1) << 0) /* ABI 6 */
#define SCOPE_SIGNAL (UINT64_C(1) << 1)               /* ABI 6 */

/* An older kernel takes a shorter one, and a longer one whose end is zero. */
struct ruleset_attr {
	uint64_t handled_access_fs;
	uint64_t handled_access_net; /* ABI 4 */
	uint64_t scoped;             /* ABI 6 */
};

struct path_beneath_attr {
	uint64_t allowed_access;
	int32_t parent_fd;
} __attribute__((packed));

#endif
