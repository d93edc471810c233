"""Where a player plays: a namespace of process ids, in which whoever is left behind is there to be seen, and a small
disk that can be filled. Where this user may have neither, orphans come back to the player all the same, and the report
says that no disk was full."""
import ctypes
import os
import signal

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, CLONE_NEWPID = 0x20000, 0x20000000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
PATIENCE = 120
CRASHES = {signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE}


class Crashed(AssertionError):
    pass


class Late(AssertionError):
    pass


def die_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def apart():
    """A child process in namespaces of its own, if there can be any; 0 in there, and whether there are."""
    child = os.fork()
    if child:
        return child, False
    die_with_parent()
    if LIBC.unshare(CLONE_NEWNS | CLONE_NEWPID) < 0:
        LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1)
        return 0, False
    inner = os.fork()
    if inner:
        os._exit(os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1]) & 0xFF)
    die_with_parent()
    is_apart = LIBC.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) == 0 and \
        LIBC.mount(b"proc", b"/proc", b"proc", 0, None) == 0
    assert is_apart, f"no /proc of our own: {os.strerror(ctypes.get_errno())}"
    return 0, True


class Disk:
    """What perch keeps its files on."""

    def __init__(self, path, megabytes, is_apart):
        self.path, self.ballast = path, f"{path}/ballast"
        os.makedirs(path)
        self.is_real = is_apart and LIBC.mount(
            b"none", path.encode(), b"tmpfs", 0, f"size={megabytes}m".encode()) == 0

    def fill(self, left):
        """All of it but so many bytes. Others write meanwhile."""
        fd = os.open(self.ballast, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        while (size := self.free() - left) > 0:
            try:
                os.posix_fallocate(fd, os.fstat(fd).st_size, size)
            except OSError:
                pass
        os.close(fd)

    def free(self):
        status = os.statvfs(self.path)
        return status.f_bavail * status.f_frsize

    def empty(self):
        if os.path.exists(self.ballast):
            os.unlink(self.ballast)


# ---- processes ----------------------------------------------------------------------------------


def processes():
    """Each that can be seen: its parent, its name, and whether it has died and waits for its parent."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                name, _, rest = file.read().partition("(")[2].rpartition(")")
        except OSError:
            continue
        state, parent = rest.split()[:2]
        found[int(pid)] = int(parent), name, state == "Z"
    return found


def role(pid, name):
    """What a perch-guard is for: `perch-guard`, `perch-guard room` or `perch-guard door`. What a doorkeeper bears has its
    memory, until it executes its program, but lives in the room: a namespace further in."""
    if name != "perch-guard":
        return name
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read().decode(errors="replace").split("\0")
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
            numbers = next((line.split()[1:] for line in file if line.startswith("NSpid:")), [])
    except OSError:
        return name
    return "newborn" if words[1:2] == ["door"] and len(numbers) > 1 else " ".join(words).strip() or name


def ours(are_dead_too=True):
    """What we have started, and what that has: their names."""
    found, own, names = processes(), os.getpid(), {}
    for pid, (_, name, is_dead) in found.items():
        at = pid
        while at not in (own, 0) and at in found:
            at = found[at][0]
        if at == own and pid != own and (are_dead_too or not is_dead):
            names[pid] = role(pid, name)
    return names


def hit(pid, number):
    """A signal to a process of ours, and to no other that has got its number meanwhile."""
    try:
        fd = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if pid in ours(are_dead_too=False):
            signal.pidfd_send_signal(fd, number)
            return True
    except ProcessLookupError:
        pass
    finally:
        os.close(fd)
    return False


def late(number, frame):
    del number, frame
    raise Late(f"after {PATIENCE} s there is still: {ours()}")


def within_patience():
    """From now on: Late, if it takes too long. 0 ends that."""
    signal.signal(signal.SIGALRM, late)
    signal.alarm(PATIENCE)


def await_all(host):
    """Until everybody has ended, whoever has started them. The exit status of the host."""
    status = None
    while True:
        try:
            pid, how = os.waitpid(-1, 0)
        except ChildProcessError:
            break
        code = os.waitstatus_to_exitcode(how)
        if -code in CRASHES:
            raise Crashed(f"process {pid} died of signal {-code}")
        if pid == host:
            status = code
    signal.alarm(0)
    return status
