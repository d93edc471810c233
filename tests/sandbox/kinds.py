"""Takes 256 MiB of the memory whose kind is named. Exits with 9 where it was kept back."""
import ctypes, mmap, os, resource, sys
MOST = 256 << 20
libc = ctypes.CDLL(None, use_errno=True)
def fill(memory):
    for at in range(0, len(memory), 4096):
        memory[at] = 1
def shared():
    fill(mmap.mmap(-1, MOST))
def small_and_shared():
    kept = [mmap.mmap(-1, 1 << 20) for i in range(MOST >> 20)]
    for memory in kept:
        fill(memory)
def grows_down():
    fill(mmap.mmap(-1, MOST, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x100))
def memory_file():
    fd = os.memfd_create("x")
    os.truncate(fd, MOST)
    fill(mmap.mmap(fd, MOST))
def secret():
    fd = libc.syscall(447, 0)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "memfd_secret")
    os.truncate(fd, MOST)
    fill(mmap.mmap(fd, MOST))
def device():
    fd = os.open("/dev/zero", os.O_RDWR)
    fill(mmap.mmap(fd, MOST))
def device_read():
    memory = mmap.mmap(os.open("/dev/zero", os.O_RDONLY), MOST, prot=mmap.PROT_READ)
    sum(memory[at] for at in range(0, MOST, 4096))
def system_v():
    number = libc.shmget(0, MOST, 0o1600)
    if number < 0:
        raise OSError(ctypes.get_errno(), "shmget")
    libc.shmat.restype = ctypes.c_void_p
    ctypes.memset(libc.shmat(number, None, 0), 1, MOST)
def stack():
    resource.setrlimit(resource.RLIMIT_STACK, (MOST, resource.getrlimit(resource.RLIMIT_STACK)[1]))
def private():
    fill(bytearray(MOST))
try:
    globals()[sys.argv[1]]()
except (OSError, MemoryError, ValueError) as error:
    print("kept back:", error)
    sys.exit(9)
print("had it all")
