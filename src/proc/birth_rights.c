/* The capabilities that a newborn gives up, and the signals that it need not reset, by bare calls.
 */
#include "proc/birth.h"

#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>

#include "guard/bare_calls.h"

/* Root would get them back with its exec: hence the bounding set. A process without capabilities
 * may not change that, and need not. */
int IN_CHILD birth_leave_bounding_set_but(int kept)
{
	long refused = 0;
	for (int capability = 0; !refused; capability++) {
		if (capability != kept)
			refused = bare_prctl(PR_CAPBSET_DROP, capability);
	}
	return refused == -EINVAL || refused == -EPERM ? 0 : (int)-refused; /* behind the last one */
}

int IN_CHILD birth_leave_capabilities_but(int kept)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { { 0 } };
	if (kept >= 0) {
		uint32_t bit = CAP_TO_MASK(kept);
		data[CAP_TO_INDEX(kept)] = (struct __user_cap_data_struct){ bit, bit, bit };
	}
	long r = bare_call(SYS_capset, (long)&header, (long)data, 0, 0, 0, 0);
	return (int)-(r < 0 ? r : bare_prctl(PR_SET_NO_NEW_PRIVS, 1));
}

uint64_t IN_CHILD birth_find_default_signals(void)
{
	uint64_t found = 0;
	for (int number = 1; number < _NSIG; number++) {
		/* The kernel's own struct: the handler first (0 = as it is by default), then flags, a
		 * restorer and a mask. */
		unsigned long action[4] = { 0 };
		long r = bare_call(SYS_rt_sigaction, number, 0, (long)action, sizeof(action[3]), 0, 0);
		if (r == 0 && !action[0])
			found |= SIGNAL_BIT(number);
	}
	return found;
}
