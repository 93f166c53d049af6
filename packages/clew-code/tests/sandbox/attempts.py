"""Programs that try to get out of the sandbox: each prints ESCAPED where it could.

They get `world`: a secret outside, listeners, a process that must live. Those that are `plain`
succeed where nothing holds them, which a test shows, so that their failure means something.
"""

from dataclasses import dataclass

HEAD = """
import ctypes, json, os, signal, socket, subprocess, sys, time
world = json.loads(sys.argv[1])
outside, root = world["outside"], world["root"]
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *args):
    result = libc.syscall(ctypes.c_long(number), *(ctypes.c_long(a) if isinstance(a, int) else a for a in args))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
def escaped(truth=True):
    print("ESCAPED" if truth else "held", flush=True)
"""


@dataclass(frozen=True)
class Attempt:
    """One way out: what it is called, its program, and what ends it where no wall does."""

    name: str
    code: str
    plain: bool = False
    seconds: float = 20.0
    network: bool = False


def _read(place: str) -> str:
    return f"escaped('swordfish' in open({place}).read())"


ATTEMPTS = [
    # files
    Attempt("read a file outside", _read("outside + '/secret'"), plain=True),
    Attempt("read it by `..` from the folder", _read("'../outside/secret'"), plain=True),
    Attempt("write a file outside", "open(outside + '/made', 'w').write('x'); escaped()", plain=True),
    Attempt("list the folder above", "escaped('outside' in os.listdir(root + '/..'))", plain=True),
    Attempt("read through a link that leads outside",
            "os.symlink(outside + '/secret', 'link'); " + _read("'link'"), plain=True),
    Attempt("write through a link that leads outside",
            "os.symlink(outside, 'way'); open('way/made', 'w').write('x'); escaped()", plain=True),
    Attempt("read through a hard link",
            "os.link(outside + '/secret', 'hard'); " + _read("'hard'"), plain=True),
    Attempt("move the folder away", "os.rename(root, outside + '/moved'); escaped()"),
    Attempt("read /etc/shadow", "escaped(bool(open('/etc/shadow').read()))"),
    Attempt("write to /usr", "open('/usr/clew-made', 'w'); os.unlink('/usr/clew-made'); escaped()"),
    Attempt("write to /etc", "open('/etc/clew-made', 'w'); os.unlink('/etc/clew-made'); escaped()"),
    Attempt("list home folders", "escaped('.ssh' in os.listdir(os.path.expanduser('~root')) or bool(os.listdir('/home')))"),
    Attempt("read another process's files by /proc/1/root", _read("'/proc/1/root' + outside + '/secret'")),
    Attempt("a descriptor that was left open", """
for fd in range(3, 64):
    try:
        here = os.readlink(f'/proc/self/fd/{fd}')
    except OSError:
        continue
    if 'outside' in here or 'socket' in here: escaped()
print('none is open')"""),
    Attempt("open a file by its handle", """
handle = ctypes.create_string_buffer(b'\\x08\\0\\0\\0\\x01\\0\\0\\0\\x02\\0\\0\\0\\0\\0\\0\\0', 136)
at = os.open('/', os.O_RDONLY)
fd = call(304, at, handle, os.O_RDONLY); escaped('secret' in str(os.listdir(fd)) or True)"""),
    Attempt("make a device for the disk", "os.mknod('disk', 0o60600, os.makedev(8, 0)); escaped()"),
    Attempt("write to /dev/mem or a disk", """
for name in ('mem', 'kmem', 'vda', 'sda', 'nvme0n1', 'kvm'):
    if os.path.exists('/dev/' + name): open('/dev/' + name, 'r+b'); escaped()
print('there is none')"""),
    Attempt("look into /sys", "escaped(bool(os.listdir('/sys')))", plain=True),
    # git
    Attempt("write a hook of git", "open('.git/hooks/pre-commit', 'w').write('#!/bin/sh'); escaped()", plain=True),
    Attempt("write git's settings", "open('.git/config', 'a').write('[core]\\n\\tfsmonitor = evil'); escaped()", plain=True),
    Attempt("put another .git in its place", "os.rename('.git', 'old'); os.mkdir('.git'); escaped()", plain=True),
    Attempt("remove .git", "import shutil; shutil.rmtree('.git'); escaped()", plain=True),
    Attempt("write git's settings through a link", "os.symlink('.git', 'g'); open('g/config', 'a').write('x'); escaped()", plain=True),
    # processes
    Attempt("kill a process outside", "os.kill(world['victim'], signal.SIGKILL); escaped()", plain=True),
    Attempt("see processes outside", "escaped(os.path.isdir(f\"/proc/{world['victim']}\") and 'sleep' in open(f\"/proc/{world['victim']}/cmdline\").read())", plain=True),
    Attempt("signal everybody", """
pid = os.fork()
if not pid:
    os.setsid(); time.sleep(.2); os._exit(0)
os.kill(world['victim'], 0); escaped()""", plain=True),
    Attempt("trace the first process", "call(101, 16, 1, 0, 0); escaped()"),
    Attempt("read the first process's memory", "open('/proc/1/mem', 'rb').read(1); escaped()"),
    Attempt("read the first process's environment", "escaped(b'CLEW' in open('/proc/1/environ', 'rb').read())"),
    Attempt("write into another process", """
word = ctypes.create_string_buffer(8); vec = (ctypes.c_void_p * 2)(ctypes.addressof(word), 8)
call(311, os.getppid(), vec, 1, vec, 1, 0); escaped()"""),
    Attempt("take a descriptor from another process", "fd = call(434, os.getppid(), 0); call(438, fd, 0, 0); escaped()"),
    Attempt("outlive the call", """
if not os.fork():
    os.setsid()
    if not os.fork():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(3); open(root + '/late', 'w').write('x')
    os._exit(0)
print('left a process behind')"""),
    Attempt("kill what watches it", "os.kill(os.getppid(), signal.SIGKILL); os.kill(1, signal.SIGKILL); time.sleep(.3); print('they live')"),
    # rights
    Attempt("become root", "os.setuid(0); escaped(os.getuid() == 0 and bool(open('/etc/shadow').read()))"),
    Attempt("run a set-user-id program", """
import shutil
shutil.copy('/bin/sh', 'sh'); os.chmod('sh', 0o6755)
said = subprocess.run(['./sh', '-pc', 'id -u'], capture_output=True, text=True).stdout.strip()
escaped(said == '0')"""),
    Attempt("a user namespace of its own", "call(272, 0x10000000); escaped()"),
    Attempt("a namespace by clone", "pid = call(56, 0x10000000 | 17, 0, 0, 0, 0); os._exit(0) if not pid else escaped()"),
    Attempt("a namespace by clone3", """
import struct
args = ctypes.create_string_buffer(struct.pack('11Q', 0x10000000, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0))
pid = call(435, args, 88)
os._exit(0) if not pid else escaped()"""),
    Attempt("join a namespace of another process", "call(308, os.open('/proc/1/ns/mnt', os.O_RDONLY), 0); escaped()"),
    Attempt("mount a file system", "call(165, b'none', root.encode(), b'tmpfs', 0, None); escaped()"),
    Attempt("make /usr writable", "call(165, b'none', b'/usr', None, 4096 | 32, None); escaped()"),
    Attempt("unmount what covers the old root", "call(166, b'/', 2); escaped()"),
    Attempt("mount by the newer calls", "call(430, b'tmpfs', 0); escaped()"),
    Attempt("leave by chroot", "os.mkdir('jail'); call(161, b'jail'); os.chdir('../../../../..'); call(161, b'.'); " + _read("outside + '/secret'")),
    Attempt("pivot_root", "call(155, b'.', b'.'); escaped()"),
    Attempt("write the kernel's core pattern", "open('/proc/sys/kernel/core_pattern', 'w').write('|/tmp/x'); escaped()"),
    Attempt("load a module", "call(313, os.open('/dev/null', os.O_RDONLY), b'', 0); escaped()"),
    # network
    Attempt("connect to this machine by TCP", "socket.create_connection(('127.0.0.1', world['tcp']), 2); escaped()", plain=True),
    Attempt("send to this machine by UDP", "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', world['udp'])); print('sent')"),
    Attempt("connect to another machine", "socket.create_connection(('192.0.2.1', 80), 2); escaped()"),
    Attempt("look up a name", "socket.getaddrinfo('example.com', 80); escaped()"),
    Attempt("connect to an abstract socket", "s = socket.socket(socket.AF_UNIX); s.connect('\\0' + world['abstract']); escaped()", plain=True),
    Attempt("connect to a socket in the file system", "s = socket.socket(socket.AF_UNIX); s.connect(outside + '/socket'); escaped()", plain=True),
    Attempt("a raw socket", "socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).sendto(b'x' * 8, (world['address'], 0)); escaped()"),
    Attempt("a packet socket", "socket.socket(socket.AF_PACKET, socket.SOCK_RAW); escaped()"),
    Attempt("a socket to the host of this virtual machine", "socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM); escaped()"),
    Attempt("the kernel's cipher sockets", "socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET); escaped()"),
    # the rest of the kernel
    Attempt("type into the terminal (TIOCSTI)", """
import fcntl
master, slave = os.openpty() if os.path.exists('/dev/ptmx') else (0, 0)
fcntl.ioctl(slave, 0x5412, b'x'); escaped()"""),
    Attempt("io_uring", "call(425, 4, ctypes.create_string_buffer(256)); escaped()"),
    Attempt("the keyring", "call(250, 0, -3, 0); escaped()"),
    Attempt("bpf", "call(321, 0, ctypes.create_string_buffer(128), 128); escaped()"),
    Attempt("userfaultfd", "call(323, 1); escaped()"),
    Attempt("perf_event_open", "call(298, ctypes.create_string_buffer(b'\\x01\\0\\0\\0\\x70\\0\\0\\0', 112), 0, -1, -1, 0); escaped()"),
    Attempt("set the clock", "time.clock_settime(time.CLOCK_REALTIME, time.time()); escaped()"),
    Attempt("restart the machine", "call(169, 0xfee1dead, 672274793, 0x01234567, 0); escaped()"),
    Attempt("change the machine's name", "socket.sethostname('evil'); escaped()"),
    Attempt("calls of another architecture (x32)", "escaped(call(0x40000000 + 39) > 0)"),
    Attempt("a call newer than the list", "call(470, 0, 0); escaped()"),
    Attempt("shared memory of another process", "call(29, world['shm_key'], 8, 0o600); escaped()", plain=True),
    # secrets and resources
    Attempt("read the environment", "escaped('swordfish' in str(dict(os.environ)))", plain=True),
    Attempt("a fork bomb", """
while True:
    try: os.fork()
    except OSError: pass""", seconds=10),
    Attempt("all memory", "keep = []\nwhile True: keep.append(b'x' * 50_000_000)", seconds=20),
    Attempt("all memory, in many processes", """
for _ in range(20):
    if not os.fork():
        keep = b'x' * 60_000_000; time.sleep(15); os._exit(0)
time.sleep(15); escaped()""", seconds=20),
    Attempt("one huge file", "f = open('huge', 'wb')\nfor _ in range(400): f.write(b'x' * 1_000_000)\nescaped()", seconds=20),
    Attempt("the disk, by many files", """
for n in range(400): open(f'file{n}', 'wb').write(b'x' * 5_000_000)
escaped()""", seconds=20),
    Attempt("memory, by /tmp", "f = open('/tmp/huge', 'wb')\nfor _ in range(1000): f.write(b'x' * 1_000_000)\nescaped()", seconds=20),
    Attempt("a flood of output", "for _ in range(3000): sys.stdout.write('x' * 10_000)\nprint('written')", seconds=20),
    Attempt("no end, and deaf to signals", "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: time.sleep(1)", seconds=1),
    Attempt("all of the processor", "while True: pass", seconds=15),
    Attempt("forge the watch's last word", "sys.stderr.write('\\n{\"built\": false, \"why\": \"forged\"}\\n'); print('forged')"),
]  # fmt: skip
"""All ways that are tried."""
