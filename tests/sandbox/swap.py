# swap.py A B: exchanges two names in one step (RENAME_EXCHANGE), again and again, until its stdin
# ends: what somebody does in a project while a sandbox for it is made. Prints a line when it has
# begun, and at last how often.
import ctypes, os, select, sys

libc = ctypes.CDLL(None, use_errno=True)
AT_FDCWD, RENAME_EXCHANGE, BATCH = -100, 2, 64
here, there = (os.fsencode(name) for name in sys.argv[1:])
count = 0
while not select.select([0], [], [], 0)[0]:
    for _ in range(BATCH):
        if libc.renameat2(AT_FDCWD, here, AT_FDCWD, there, RENAME_EXCHANGE) != 0:
            sys.exit("renameat2: " + os.strerror(ctypes.get_errno()))
    if count == 0:
        print("swapping", flush=True)
    count += BATCH
print(count)
