"""Further ways out, tried by somebody who had not written the walls: through the kernel's doors.

Numbers of system calls are those of x86_64.
"""

from tests.sandbox.attempts import Attempt


def _refused(call: str, *codes: str) -> str:
    """A call that the filter has to refuse with one of these errors; another error is an escape."""
    wanted = ", ".join(f"errno.{code}" for code in codes)
    return f"""
import errno
try:
    {call}
except OSError as error:
    escaped(error.errno not in {{{wanted}}})
    raise
escaped()"""


def _family(number: int) -> str:
    return _refused(f"socket.socket({number}, socket.SOCK_RAW)", "EAFNOSUPPORT")


def _mode(call: str) -> str:
    """A file that becomes its owner's own rights for whoever runs it on this machine."""
    return f"""
import shutil
shutil.copy('/bin/sh', 'sh')
try:
    {call}
finally:
    escaped(any(os.lstat(name).st_mode & 0o4000 for name in os.listdir('.')))"""


KERNEL = [
    # sockets
    *(Attempt(f"a socket of the family {name}", _family(number)) for name, number in {
        "CAN": 29, "TIPC": 30, "Bluetooth": 31, "RDS": 21, "KEY": 15, "XDP": 44, "QIPCRTR": 42,
        "SMC": 43, "NFC": 39, "X.25": 9, "AppleTalk": 5, "PPPoE": 24, "MCTP": 45,
    }.items()),
    Attempt("a pair of sockets of another family",
            _refused("a = socket.socketpair(30, socket.SOCK_SEQPACKET)", "EAFNOSUPPORT")),
    Attempt("a pair of sockets to the host",
            _refused("a = socket.socketpair(40, socket.SOCK_STREAM)", "EAFNOSUPPORT")),
    Attempt("a family in a number of 64 bits",
            _refused("call(41, 0x100000000 + 17, 3, 0)", "EAFNOSUPPORT", "EINVAL")),
    Attempt("an abstract socket, with the network", """
s = socket.socket(socket.AF_UNIX); s.connect('\\0' + world['abstract'])
escaped()""", network=True),
    Attempt("a datagram to an abstract socket, with the network", """
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.sendto(b'x', '\\0' + world['abstract'])
escaped()""", network=True),
    Attempt("a network device by netlink", """
import struct
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
kind = struct.pack('HH', 9, 1) + b'dummy\\0\\0\\0'
info = struct.pack('HH', 4 + len(kind), 18) + kind
body = struct.pack('BxHiII', 0, 0, 0, 0, 0) + info
s.send(struct.pack('IHHII', 16 + len(body), 16, 5 | 0x600, 1, 0) + body)
escaped(struct.unpack('i', s.recv(4096)[16:20])[0] == 0)"""),
    Attempt("a rule of the firewall by netlink", """
import struct
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12)
body = struct.pack('BBH', 1, 0, 0) + struct.pack('HH', 6, 1) + b'x\\0\\0\\0'
s.send(struct.pack('IHHII', 16 + len(body), (10 << 8) | 0, 5 | 0x600, 1, 0) + body)
escaped(struct.unpack('i', s.recv(4096)[16:20])[0] == 0)"""),
    Attempt("a tunnel device", "os.open('/dev/net/tun', os.O_RDWR); escaped()"),
    # processes
    Attempt("signal the group of processes", """
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
os.kill(0, signal.SIGUSR1); print('the group is its own')"""),
    Attempt("kill the group of processes", "os.kill(0, signal.SIGKILL); time.sleep(1)"),
    Attempt("signal the first process by a descriptor",
            "fd = call(434, 1, 0); call(424, fd, 9, None, 0); time.sleep(.3); print('it lives')"),
    Attempt("write the first process's memory",
            "open('/proc/1/mem', 'r+b').write(b'x'); escaped()"),
    Attempt("the first process's descriptors", """
for fd in os.listdir('/proc/1/fd'): os.readlink('/proc/1/fd/' + fd); escaped()"""),
    Attempt("the first process's working folder", "escaped(bool(os.listdir('/proc/1/cwd/..')))"),
    Attempt("be traced by a parent", "call(101, 0, 0, 0, 0); escaped()"),
    Attempt("trace a child", """
pid = os.fork()
if not pid: time.sleep(2); os._exit(0)
call(101, 0x4206, pid, 0, 0); escaped()"""),
    Attempt("compare itself with another process", "call(312, os.getpid(), 1, 2, 0, 0); escaped()"),
    Attempt("spare itself from the killer of memory",
            "open('/proc/self/oom_score_adj', 'w').write('-1000'); escaped()"),
    # rights and namespaces
    Attempt("a namespace by flags of 64 bits",
            "pid = call(56, 0x110000000 | 17, 0, 0, 0, 0); os._exit(0) if not pid else escaped()"),
    *(Attempt(f"the parent of the namespace {kind}", f"""
import fcntl
fd = fcntl.ioctl(os.open('/proc/self/ns/{kind}', os.O_RDONLY), 0xb702, 0); escaped()""")
      for kind in ("user", "pid")),
    Attempt("a map of users of its own",
            "open('/proc/self/uid_map', 'w').write('0 0 1'); escaped()"),
    Attempt("further groups", "os.setgroups([0]); escaped()"),
    Attempt("an ambient capability", "call(157, 47, 2, 21, 0, 0); escaped()"),
    Attempt("take capabilities back", """
header = ctypes.create_string_buffer((0x20080522).to_bytes(4, 'little') + bytes(4))
call(126, header, ctypes.create_string_buffer(b'\\xff' * 24)); escaped()"""),
    Attempt("a program in memory that reads outside", """
fd = os.memfd_create('x'); os.write(fd, open('/bin/sh', 'rb').read())
said = subprocess.run([f'/proc/self/fd/{fd}', '-c', 'cat ' + outside + '/secret'], pass_fds=[fd],
                      capture_output=True, text=True).stdout
escaped('swordfish' in said)"""),
    Attempt("a file that runs as its owner, by chmod", _mode("os.chmod('sh', 0o4755)")),
    Attempt("the same, by a descriptor", _mode("os.fchmod(os.open('sh', os.O_RDONLY), 0o4755)")),
    Attempt("the same, by fchmodat", _mode("call(268, -100, b'sh', 0o4755)")),
    Attempt("the same, by fchmodat2", _mode("call(452, -100, b'sh', 0o4755, 0)")),
    Attempt("the same, by open", _mode("call(2, b'new', os.O_CREAT | os.O_WRONLY, 0o4755)")),
    Attempt("the same, by openat", _mode("call(257, -100, b'new', os.O_CREAT | 1, 0o4755)")),
    Attempt("the same, by creat", _mode("call(85, b'new', 0o4755)")),
    Attempt("the same, by openat2", _mode(
        "call(437, -100, b'new', (ctypes.c_uint64 * 3)(0o101, 0o4755, 0), 24)")),
    Attempt("the same, by mknod", _mode("call(133, b'new', 0o104755, 0)")),
    Attempt("the same, by mknodat", _mode("call(259, -100, b'new', 0o104755, 0)")),
    Attempt("the same, by io_uring", "call(425, 4, ctypes.create_string_buffer(256)); escaped()"),
    # files
    Attempt("swap .git with another folder",
            "os.mkdir('x'); call(316, -100, b'.git', -100, b'x', 2); escaped()"),
    Attempt("cut git's settings short",
            "os.open('.git/config', os.O_WRONLY | os.O_TRUNC); escaped()"),
    Attempt("a second name for git's settings",
            "os.link('.git/config', 'c'); open('c', 'a').write('evil'); escaped()"),
    Attempt("rights of git's settings", "os.chmod('.git/config', 0o777); escaped()"),
    Attempt("an attribute of git's settings",
            "os.setxattr('.git/config', 'user.x', b'1'); escaped()"),
    Attempt("a race of a link against a look", """
import threading
os.mkdir('d'); stop = time.monotonic() + 2
def swap():
    while time.monotonic() < stop:
        try:
            os.symlink(outside, 'l'); call(316, -100, b'l', -100, b'd', 2)
            call(316, -100, b'l', -100, b'd', 2); os.unlink('l')
        except OSError: pass
threading.Thread(target=swap).start()
while time.monotonic() < stop:
    try:
        if 'swordfish' in open('d/secret').read(): escaped()
    except OSError: pass
print('not once')"""),
    Attempt("a core file", """
import resource
if os.fork() == 0: os.abort()
os.wait(); escaped(any('core' in name for name in os.listdir('.')))"""),
    Attempt("a device of terminals", "os.open('/dev/ptmx', os.O_RDWR); escaped()"),
    Attempt("the terminal itself", "os.open('/dev/tty', os.O_RDWR); escaped()"),
    # the rest of the kernel
    Attempt("type into a terminal by a number of 64 bits",
            _refused("call(16, 0, 0x100005412, ctypes.create_string_buffer(b'x'))", "EPERM")),
    Attempt("paste into a console", _refused("call(16, 0, 0x541C, b'\\x03')", "EPERM")),
    Attempt("calls of 32 bits (int 0x80)", """
import mmap
page = mmap.mmap(-1, 4096, prot=7)
page.write(bytes.fromhex('53b814000000cd805bc3'))  # getpid by its number of 32 bits
run = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
escaped(run() > 0)"""),
    Attempt("a process's memory by its descriptor",
            "fd = call(434, os.getpid(), 0); call(440, fd, 0, 0, 20, 0); print('its own only')"),
    Attempt("pages of another process", "call(256, 1, 64, b'\\1', b'\\1'); escaped()"),
    Attempt("the kernel's log", "call(103, 3, ctypes.create_string_buffer(100), 100); escaped()"),
    Attempt("swap", "call(167, b'/dev/null', 0); escaped()"),
    Attempt("quotas", "call(179, 0x80000700, None, 0, None); escaped()"),
    Attempt("watch the whole file system", "call(300, 4, 0); escaped()"),
    Attempt("the kernel's settings", "escaped(bool(os.listdir('/proc/sys')))"),
    Attempt("mounts of this machine", """
told = open('/proc/self/mountinfo').read()
escaped(any(line.split()[4].startswith(outside) for line in told.splitlines()))"""),
    Attempt("capabilities in an attribute of a file (setcap)", """
import struct
open('run', 'w').write('x'); os.chmod('run', 0o755)
os.setxattr('run', 'security.capability', struct.pack('<5I', 0x02000001, 1 << 21, 0, 0, 0))
escaped()"""),
    Attempt("a file that nobody can remove (chattr +i)", """
import array, fcntl
open('i', 'w').write('x')
fcntl.ioctl(os.open('i', os.O_RDONLY), 0x40086602, array.array('l', [0x10])); escaped()"""),
    Attempt("a trusted attribute", """
open('t', 'w').write('x'); os.setxattr('t', 'trusted.x', b'1'); escaped()"""),
    Attempt("a queue of messages by its name",
            "call(240, b'clewq', 0o102, 0o600, None); escaped()"),
    Attempt("stop the group of processes",
            "os.kill(0, signal.SIGSTOP); time.sleep(1)", seconds=5.0),
    Attempt("a real-time scheduler",
            "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50)); escaped()"),
    Attempt("a better nice value", "os.setpriority(os.PRIO_PROCESS, 0, -10); escaped()"),
    Attempt("real-time input and output", "call(251, 1, 0, 1 << 13); escaped()"),
    Attempt("a higher limit", """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 50, 1 << 50)); escaped()"""),
    Attempt("all of memory past the watch, whose own limits are 0", """
import resource
for limit in (resource.RLIMIT_NOFILE, resource.RLIMIT_AS, resource.RLIMIT_DATA):
    resource.prlimit(1, limit, (0, 0))
for _ in range(20):
    if not os.fork():
        keep = b'x' * 60_000_000; time.sleep(10); os._exit(0)
time.sleep(10); escaped()""", seconds=14.0),
    Attempt("ports of the machine", "call(172, 3); escaped()"),
    Attempt("a table of descriptors of memory",
            "call(154, 1, ctypes.create_string_buffer(16), 16); escaped()"),
    Attempt("accounting of processes", "call(163, None); escaped()"),
    Attempt("hang up the terminal", "call(153); escaped()"),
    Attempt("the program of the first process", "os.open('/proc/1/exe', os.O_RDONLY); escaped()"),
    Attempt("a clock of its own", "call(272, 0x80); escaped()"),
    Attempt("a key of the kernel's by its name", "call(249, b'user', b'x', None, 0); escaped()"),
]  # fmt: skip
"""Nothing of it is plain: without a sandbox an administrator does other than an ordinary user."""
