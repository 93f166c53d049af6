"""Starting the server and the clients, each in a fresh process."""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Bench:
    """A server that listens on `port`, and the clients that are sent there."""

    port: int

    def client(
        self, module: str, kind: str, *options: str, wait: int = 0, http: bool = True
    ) -> dict[str, Any]:
        """What a client measured; `wait` is how long each reply takes, in milliseconds.

        Without `http` it is told of no server. Raises `RuntimeError` with the client's own words
        where it failed.
        """
        path = f"/wait/{wait}/v1" if wait else "/v1"
        address = f"http://127.0.0.1:{self.port}{path}"
        argv = [sys.executable, "-m", f"benchmarks.{module}", "--kind", kind]
        argv += ["--url", address] if http else []
        ran = subprocess.run(
            [*argv, *options],
            cwd=ROOT,
            env=environment(),
            capture_output=True,
            check=False,
            text=True,
        )
        if ran.returncode:
            raise RuntimeError(f"{' '.join(argv[1:])} failed:\n{ran.stderr[-2000:]}")
        results: dict[str, Any] = json.loads(ran.stdout)
        return results


def environment() -> dict[str, str]:
    """The environment without proxies, with bytecode kept as an installed package has it."""
    kept = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    return kept | {"PYTHONPATH": f"{ROOT / 'packages/clew/src'}{os.pathsep}{ROOT / 'lab'}"}


@contextmanager
def started() -> Iterator[Bench]:
    """A bench, as long as it is needed."""
    server = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.server"],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        line = server.stdout.readline() if server.stdout else ""
        if not line.strip():
            raise RuntimeError("the server did not start: install clew[bench] and see above")
        yield Bench(int(line))
    finally:
        server.terminate()
        server.communicate()


def python(code: str) -> tuple[float, float]:
    """CPU and wall seconds of a Python process that does `code` and nothing else."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment(), check=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, wall
