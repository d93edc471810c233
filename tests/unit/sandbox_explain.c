/* Hints from what a failed program said. */
#include "harness/oom.h"
#include "harness/suite.h"

#include <errno.h>
#include <string.h>

#include "sandbox/policy/explain.h"

static const char *const hide[] = { "/home/dev/.ssh", NULL };
static const char *const reveal[] = { "/home/dev/.ssh/known_hosts", NULL };
static const char *const protect[] = { "/home/dev/app/.git/hooks", NULL };
static const char *const read[] = { "/usr", NULL };
static const char *const read_in_tmp[] = { "/tmp/shown", NULL };
static const char *const reveal_in_tmp[] = { "/tmp/project", NULL };

static const struct sandbox_policy plugin = {
	.reads_everything = true,
	.hide = hide,
	.reveal = reveal,
	.protect = protect,
	.has_private_tmp = true,
	.net = SANDBOX_NET_FULL,
};
/* The project and a path that was allowed lie in /tmp. */
static const struct sandbox_policy in_tmp = {
	.reads_everything = true,
	.read = read_in_tmp,
	.hide = hide,
	.reveal = reveal_in_tmp,
	.has_private_tmp = true,
	.net = SANDBOX_NET_FULL,
};
static const struct sandbox_policy tool = { .read = read, .hide = hide, .net = SANDBOX_NET_NONE };

#define WRITE(path) "the sandbox policy 'p' was in force; --write " path " would allow it"
#define READ(path)                                                                      \
	"the sandbox policy 'p' was in force; --read " path " would show it, --write " path \
	" allow to change it"
#define NOT(path) "the sandbox policy 'p' was in force; it does not allow that for " path
#define NET "the sandbox policy 'p' was in force; --net would give it a network"
#define NESTED                                                                                    \
	"the sandbox policy 'p' was in force; no other sandbox can be made inside it: switch one of " \
	"the two off, and run it without perch sandbox run"

/* On this machine everything is there but what is new. */
static bool exists(const char *path)
{
	return !strstr(path, "/new");
}

static const struct {
	const struct sandbox_policy *policy;
	const char *said;
	const char *hint; /* NULL = none */
} cases[] = {
	{ &plugin, "sh: 1: cannot create /etc/x: Permission denied", WRITE("/etc/x") },
	{ &plugin, "/bin/sh: 1: cannot create /etc/x: Permission denied", WRITE("/etc/x") },
	{ &plugin, "touch: cannot touch '/usr/y': Read-only file system\n", WRITE("/usr/y") },
	{ &plugin, "PermissionError: [Errno 13] Permission denied: '/srv/a b'", WRITE("'/srv/a b'") },
	{ &plugin, "touch: cannot touch \xE2\x80\x98/usr/y\xE2\x80\x99: Read-only file system",
		WRITE("/usr/y") },
	{ &plugin, "open \xE2\x80\x9C/usr/y z\xE2\x80\x9D: EACCES", WRITE("'/usr/y z'") },
	{ &plugin, "ls: cannot open `/usr/y': Permission denied", WRITE("/usr/y") },
	{ &plugin, "it's said: /usr/y: Permission denied", WRITE("/usr/y") },
	{ &plugin, "mkdir: cannot create directory \xE2\x80\x98/srv/new\xE2\x80\x99: Permission denied",
		WRITE("/srv/new") ", once it is there: mkdir -p /srv/new" },
	{ &plugin, "sh: 1: cannot create /srv/new: Permission denied",
		WRITE("/srv/new") ", once it is there: touch /srv/new" },
	{ &plugin, "sh: 1: cannot create /srv/new/x: Permission denied",
		WRITE("/srv/new/x") ", once it is there: mkdir -p /srv/new && touch /srv/new/x" },
	{ &plugin, "cat: /home/dev/.ssh/new: No such file or directory", NULL },
	{ &plugin, "sh: 6: cannot create /srv/new docs/a: Permission denied",
		WRITE("'/srv/new docs/a'") ", once it is there: mkdir -p '/srv/new docs' && touch "
								   "'/srv/new docs/a'" },
	{ &plugin, "bash: /srv/new a: Permission denied",
		WRITE("'/srv/new a'") ", once it is there: touch '/srv/new a'" },
	{ &plugin, "oops: /srv/data cannot be changed: Permission denied", WRITE("/srv/data") },
	{ &in_tmp, "sh: 1: cannot create /tmp/a/new: Directory nonexistent",
		WRITE("/tmp/a/new") ", once it is there: touch /tmp/a/new" },
	{ &in_tmp, "sh: 1: cannot open /tmp/a/new: No such file", NULL },
	{ &plugin, "Error: EACCES: permission denied, open '/opt/z'", WRITE("/opt/z") },
	{ &plugin, "mkdir: /var/q: Operation not permitted", WRITE("/var/q") },
	{ &plugin, "cat: /home/dev/.ssh/id: Permission denied", READ("/home/dev/.ssh/id") },
	{ &plugin, "cat: /home/dev/.ssh/id: No such file or directory", READ("/home/dev/.ssh/id") },
	{ &plugin, "cat: /tmp/data: No such file or directory", READ("/tmp/data") },
	{ &in_tmp, "cat: /tmp/data: No such file or directory", READ("/tmp/data") },
	{ &in_tmp, "touch: /tmp/data: Permission denied", READ("/tmp/data") },
	{ &in_tmp, "touch: /tmp/shown/x: Read-only file system", WRITE("/tmp/shown/x") },
	{ &in_tmp, "touch: /tmp/project/x: Read-only file system", WRITE("/tmp/project/x") },
	{ &in_tmp, "cat: /tmp/shown/x: No such file or directory", NULL },
	{ &plugin, "cat: /srv/data: No such file or directory", NULL },
	{ &plugin, "cat: /home/dev/.ssh/known_hosts: No such file or directory", NULL },
	{ &plugin, "cannot write /home/dev/app/.git/hooks/pre-push: Read-only file system",
		"the sandbox policy 'p' was in force; it protects /home/dev/app/.git/hooks/pre-push, which "
		"the host would execute or trust later" },
	{ &plugin, "first line\nopen(/etc/x): permission denied\nlast line\n", WRITE("/etc/x") },
	{ &plugin, "curl: (6) Could not resolve host: example.org", NULL },
	{ &plugin, "cat: /srv/data|touch${IFS}PWNED&: Permission denied",
		WRITE("'/srv/data|touch${IFS}PWNED&'") },
	{ &tool, "cat: /srv/$(id)>x: Permission denied", READ("'/srv/$(id'") },
	{ &plugin, "cat: /srv/\033]0;x\007: Permission denied", NOT("/srv/?") },
	{ &plugin, "cat: /srv/\xe2\x80\xaetxt: Permission denied", NOT("/srv/???txt") },
	{ &plugin, "cat: /srv/\xff: Permission denied", NOT("/srv/?") },
	{ &plugin, "something else went wrong", NULL },
	{ &plugin, "", NULL },
	{ &plugin, "permission denied", NULL },
	{ &tool, "cat: /home/dev/file: Permission denied", READ("/home/dev/file") },
	{ &tool, "cannot create /usr/x: Permission denied", WRITE("/usr/x") },
	{ &tool, "curl: (6) Could not resolve host: example.org", NET },
	{ &tool, "PermissionError: [Errno 1] Operation not permitted\n  in socket.create", NET },
	{ &tool, "getaddrinfo EAI_AGAIN registry", NET },
	{ &plugin, "unshare: unshare failed: Operation not permitted", NESTED },
	{ &plugin, "bwrap: Creating new namespace failed: Operation not permitted", NESTED },
	{ &plugin, "bwrap: No permissions to create new namespace, likely because the kernel …",
		NESTED },
	{ &plugin, "bwrap: setting up uid map: Permission denied", NESTED },
};

static struct explain_context context(const struct sandbox_policy *policy)
{
	return (struct explain_context){
		.policy = policy, .policy_name = "p", .widen_by = "", .exists = exists
	};
}

START_TEST(hints)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct buf out = { 0 };
		struct explain_context with = context(cases[i].policy);
		bool found = explain_failure(&with, str_from(cases[i].said), &out);
		buf_terminate(&out);
		ck_assert_msg(found == !!cases[i].hint, "%s", cases[i].said);
		if (found)
			ck_assert_str_eq(out.data, cases[i].hint);
		buf_free(&out);
	}
}
END_TEST

START_TEST(the_option_stands_behind_the_command_that_takes_it)
{
	struct explain_context with = { &plugin, "fledge", "perch plugins allow deploy ", NULL,
		exists };
	struct buf out = { 0 };
	ck_assert(explain_failure(&with, STR("/etc/x: Permission denied"), &out));
	buf_terminate(&out);
	ck_assert_str_eq(out.data,
		"the sandbox policy 'fledge' was in force; perch plugins allow deploy --write /etc/x would "
		"allow it");
	buf_clear(&out);
	ck_assert(explain_nested(&with, "/usr/bin/bwrap", &out));
	buf_terminate(&out);
	ck_assert_ptr_nonnull(strstr(out.data, "(perch plugins allow deploy --sandbox off)"));
	ck_assert(!explain_nested(&with, "/usr/bin/cat", &out));
	buf_free(&out);
}
END_TEST

START_TEST(where_no_option_widens_it_the_file_does)
{
	static const struct {
		const char *said;
		const char *hint;
	} told[] = {
		{ "cat: '/srv/a b': Permission denied",
			"read = [\"/srv/a b\"] under [sandbox] in b.toml would allow it" },
		{ "cannot create /usr/x: Permission denied",
			"write = [\"/usr/x\"] under [sandbox] in b.toml would allow it" },
		{ "curl: (6) Could not resolve host: example.org",
			"net = \"full\" under [sandbox] in b.toml would give it a network" },
		{ "bwrap: setting up uid map: Permission denied",
			"no other sandbox can be made inside it: switch one of the two off (mode = \"off\" "
			"under [sandbox] in b.toml)" },
	};
	struct explain_context with = { &tool, "p", "", "b.toml", exists };
	for (size_t i = 0; i < COUNT(told); i++) {
		struct buf out = { 0 };
		ck_assert(explain_failure(&with, str_from(told[i].said), &out));
		buf_terminate(&out);
		ck_assert_str_eq(out.data + strlen("the sandbox policy 'p' was in force; "), told[i].hint);
		buf_free(&out);
	}
}
END_TEST

START_TEST(only_the_end_is_looked_at_and_no_control_character_passed_on)
{
	static char said[100000];
	memset(said, 'x', sizeof(said) - 1);
	memcpy(said, "/etc/early: Permission denied\n", 30);
	struct explain_context with = context(&plugin);
	struct buf out = { 0 };
	ck_assert(!explain_failure(&with, str_from(said), &out));
	ck_assert(explain_failure(&with, STR("open '/etc/\033[31m': Permission denied"), &out));
	buf_terminate(&out);
	ck_assert_ptr_null(strchr(out.data, '\033'));
	buf_free(&out);
}
END_TEST

static int explain_once(void *data)
{
	(void)data;
	struct explain_context with = context(&plugin);
	struct buf out = { 0 };
	bool found = explain_failure(&with, STR("/etc/x: Permission denied"), &out);
	int r = found && !out.failed ? 0 : -ENOMEM;
	buf_free(&out);
	return r;
}

START_TEST(every_failed_allocation_is_survived)
{
	ck_assert_uint_gt(oom_every(explain_once, NULL), 0);
}
END_TEST

SUITE_MAIN("sandbox-explain", hints, the_option_stands_behind_the_command_that_takes_it,
	where_no_option_widens_it_the_file_does,
	only_the_end_is_looked_at_and_no_control_character_passed_on,
	every_failed_allocation_is_survived)
