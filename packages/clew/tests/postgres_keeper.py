"""Keeps one PostgreSQL server: starts and ends it as told, and ends it when nobody tells any more.

    postgres_keeper.py FOLDER [UID] COMMAND…

Orders come on standard input: `start`, `stop SIGNAL`. When that ends, because the process that
gave them ended in whatever way, the server is ended and FOLDER removed.
"""

import shutil
import subprocess
import sys
import time
from pathlib import Path
from signal import SIGQUIT
from typing import Any

PATIENCE = 300.0


def started(folder: Path, uid: str, command: list[str]) -> subprocess.Popen[bytes]:
    """The server, once it answers. One that was killed may leave processes that must end first."""
    whom: dict[str, Any] = (
        {"user": int(uid), "group": folder.stat().st_gid, "extra_groups": []} if uid else {}
    )
    until = time.monotonic() + PATIENCE
    with (folder / "log").open("ab") as log:
        while time.monotonic() < until:
            server = subprocess.Popen[bytes](
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder, **whom
            )
            while server.poll() is None and time.monotonic() < until:
                if ready(folder / "data" / "postmaster.pid", server.pid):
                    return server
                time.sleep(0.005)
            if "shared memory" not in (folder / "log").read_text(errors="replace")[-2000:]:
                break
            time.sleep(0.05)
    raise TimeoutError(" / ".join((folder / "log").read_text(errors="replace").splitlines()[-5:]))


def ready(place: Path, pid: int) -> bool:
    try:
        lines = place.read_text().splitlines()
    except FileNotFoundError:
        return False
    return len(lines) > 7 and lines[0] == str(pid) and lines[7].strip() == "ready"


def end(server: subprocess.Popen[bytes], how: int) -> None:
    server.send_signal(how)
    try:
        server.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def main(folder: Path, uid: str, command: list[str]) -> None:
    server = None
    try:
        for line in sys.stdin:
            order, *words = line.split()
            try:
                if order == "start":
                    server = started(folder, uid, command)
                    say("done", server.pid)
                elif server is not None:
                    end(server, int(words[0]))
                    say("done")
            except TimeoutError as error:
                say("failed", error)
    finally:
        if server is not None and server.poll() is None:
            end(server, SIGQUIT)
        shutil.rmtree(folder, ignore_errors=True)  # what a killed server's children still write


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
