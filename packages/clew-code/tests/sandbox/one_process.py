"""Programs that try to get more memory or more processes than a single process may have.

They were written against `Sandbox(single_process=True)`, when its limits were known: each tries a
way that one of the limits alone would not close. Each prints ESCAPED where it got what it wants.
"""

from tests.sandbox.attempts import Attempt

MEMORY = 100_000_000
"""Bytes that the sandbox allows them."""

_MAPS = """
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
PIECE = 20_000_000
def taken(flags):
    place = libc.mmap(None, PIECE, 3, flags, -1, 0)
    if place is None or place == 2**64 - 1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    ctypes.memset(place, 120, PIECE)
    return place
"""


def _memory(name: str, code: str, *, plain: bool = True) -> Attempt:
    return Attempt(name, _MAPS + code, plain=plain)


ATTEMPTS = [
    # processes
    Attempt("fork by its number", "pid = call(57); os._exit(0) if not pid else escaped()", plain=True),
    Attempt("vfork by its number", "pid = call(58); os._exit(0) if not pid else escaped()"),
    Attempt("clone by its number", "pid = call(56, 17, 0, 0, 0, 0); os._exit(0) if not pid else escaped()", plain=True),
    Attempt("clone with the same memory, and no thread", "pid = call(56, 0x4000 | 0x100 | 17, 0, 0, 0, 0); os._exit(0) if not pid else escaped()"),
    Attempt("posix_spawn", "os.waitpid(os.posix_spawn('/bin/sh', ['sh', '-c', ':'], {}), 0); escaped()", plain=True),
    Attempt("processes of multiprocessing", "import multiprocessing\np = multiprocessing.get_context('fork').Process(target=print); p.start(); p.join(); escaped()", plain=True),
    Attempt("threads that fork", """
import threading
def work():
    if not os.fork(): os._exit(0)
    escaped()
for _ in range(3):
    t = threading.Thread(target=work); t.start(); t.join()""", plain=True),
    Attempt("hundreds of threads", """
import threading
threading.stack_size(65_536)
over = threading.Event()
try:
    for _ in range(400): threading.Thread(target=over.wait, daemon=True).start()
    escaped()
finally: over.set()"""),
    # the limits themselves
    Attempt("higher limits", """
import resource
for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA, resource.RLIMIT_NOFILE):
    try: resource.setrlimit(kind, (1 << 40, 1 << 40)); escaped()
    except (OSError, ValueError) as error: print(error)"""),
    Attempt("another program in its place", "os.execv(sys.executable, [sys.executable, '-c', \"import os; x = b'x' * 400_000_000; print('ESC' + 'APED')\"])", plain=True),
    # memory that is not written, or not mapped
    _memory("pages that are written and then made read-only", """
for _ in range(20): libc.mprotect(taken(0x22), PIECE, 1)
escaped()"""),
    _memory("mappings that grow down", "for _ in range(20): taken(0x122)\nescaped()"),
    _memory("mappings that are shared with nobody", "for _ in range(20): taken(0x21)\nescaped()"),
    _memory("files in memory", """
for n in range(20):
    fd = os.memfd_create('m')
    for _ in range(20): os.write(fd, b'x' * 1_000_000)
escaped()"""),
    _memory("shared memory that is let go", """
libc.shmat.restype = ctypes.c_void_p
libc.shmdt.argtypes = [ctypes.c_void_p]
for _ in range(20):
    place = libc.shmat(call(29, 0, PIECE, 0o1600), None, 0)
    ctypes.memset(place, 120, PIECE); libc.shmdt(place)
escaped()"""),
    _memory("semaphores", "for _ in range(50): call(64, 0, 32_000, 0o1600)\nescaped()"),
    _memory("pages that are left in pipes", """
class Piece(ctypes.Structure): _fields_ = [('base', ctypes.c_void_p), ('size', ctypes.c_size_t)]
place = taken(0x22)
into = os.pipe()[1]
for page in range(0, 16 * 1_048_576, 1_048_576):  # of a huge page, a pipe keeps all
    call(278, into, ctypes.byref(Piece(place + page, 4096)), 1, 0)
libc.munmap(place, PIECE)
escaped()"""),
    _memory("what pipes hold", """
import fcntl
held = 0
for _ in range(400):
    into = os.pipe()[1]
    fcntl.fcntl(into, 1031, 1_048_576)
    os.set_blocking(into, False)
    held += os.write(into, b'x' * 1_048_576)
    if held > 100_000_000: escaped(); break""", plain=False),
    _memory("what connections to itself hold", """
server = socket.create_server(('127.0.0.1', 0))
held, kept = 0, []
for _ in range(400):
    kept += [socket.create_connection(server.getsockname()), server.accept()[0]]
    kept[-1].setblocking(False)
    try:
        while True: held += kept[-1].send(b'x' * 1_000_000)
    except BlockingIOError: pass
    if held > 100_000_000: escaped(); break"""),
    _memory("what pairs of sockets hold", """
held, kept = 0, []
for _ in range(2000):
    kept += socket.socketpair()
    for one in kept[-2:]:
        try: one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30)
        except PermissionError: pass
        one.setblocking(False)
        try:
            while True: held += one.send(b'x' * 100_000)
        except BlockingIOError: pass
    if held > 100_000_000: escaped(); break"""),
    _memory("descriptors that are under way", """
held, (way, end) = 0, socket.socketpair()
for _ in range(2000):
    one, other = socket.socketpair()
    one.setblocking(False)
    try:
        while True: held += one.send(b'x' * 100_000)
    except BlockingIOError: pass
    socket.send_fds(way, [b'x'], [one.fileno(), other.fileno()]); one.close(); other.close()
    if held > 100_000_000: escaped(); break""", plain=False),
    _memory("empty files without end", """
for n in range(30_000): open(f'/tmp/{n}', 'w').close()
escaped()"""),
]  # fmt: skip
"""All ways that are tried."""
