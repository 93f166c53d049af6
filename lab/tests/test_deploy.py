"""What stands in deploy/ does what it says, without a container.

The steps of the container file run in a root of their own: a new virtual environment that has what
clew needs from others, and nothing of clew. The services of the compose file are started by its own
commands, with a real PostgreSQL.
"""

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml  # type: ignore[import-untyped] # it has no types

from clew.cli.worker import worker as worker_command
from tests.patience import PATIENCE
from tests.postgres import Server
from tests.test_layers import ROOT

DEPLOY = ROOT / "deploy"
TOKEN = "token-of-an-admin-0123456789"
VARIABLE = re.compile(r"\$\{(\w+)(?::[-?]([^}]*))?\}")


@dataclass
class Root:
    """What the steps of a container file make: a folder, and an environment."""

    folder: Path
    venv: Path
    workdir: Path
    environment: dict[str, str] = field(default_factory=dict[str, str])
    entrypoint: list[str] = field(default_factory=list[str])
    command: list[str] = field(default_factory=list[str])

    def variables(self) -> dict[str, str]:
        path = f"{self.venv / 'bin'}:{os.environ['PATH']}"
        home = str(self.folder / "home")
        offline = {"PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        return {"PATH": path, "HOME": home, **offline, **self.environment}

    def step(self, name: str, rest: str, context: Path) -> None:
        """Do one step."""
        match name:
            case "FROM" | "USER":
                pass  # the Python that runs this, and its user
            case "WORKDIR":
                self.workdir = self.folder / rest.lstrip("/")
                self.workdir.mkdir(parents=True)
            case "COPY":
                source, target = rest.split()
                shutil.copytree(context / source, self.workdir / target)
            case "RUN":
                subprocess.run(
                    ["sh", "-ec", rest], cwd=self.workdir, env=self.variables(), check=True
                )
            case "ENV":
                variable, _, value = rest.partition("=")
                self.environment[variable] = value
            case "ENTRYPOINT":
                self.entrypoint = json.loads(rest)
            case "CMD":
                self.command = json.loads(rest)
            case _:
                pytest.fail(f"a step that this test does not know: {name}")


def steps(text: str) -> Iterator[tuple[str, str]]:
    lines = (line for line in text.splitlines() if line.strip() and line[0] != "#")
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        name, _, rest = line.partition(" ")
        yield name, rest.strip()


def bare_environment(folder: Path) -> None:
    """A virtual environment that has all that is installed here, but for clew."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    [packages] = folder.glob("lib/python3*/site-packages")
    for path in Path(sysconfig.get_paths()["purelib"]).iterdir():
        if not re.match(r"(__editable__|_)*(clew|_clew)|__pycache__|.*\.pth$", path.name):
            (packages / path.name).symlink_to(path)
    pip = folder / "bin" / "pip"
    pip.write_text(f'#!/bin/sh\nexec {shlex.quote(str(folder / "bin" / "python"))} -m pip "$@"\n')
    pip.chmod(0o755)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Root:
    """What the container file makes."""
    folder = tmp_path_factory.mktemp("root")
    (context := folder / "context").mkdir()
    wheels = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    packages = [ROOT / "packages" / name for name in ("clew", "clew-cluster", "clew-serve")]
    subprocess.run([*wheels, "--wheel-dir", context / "dist", *packages], check=True)
    bare_environment(folder / "venv")
    made = Root(folder, folder / "venv", folder)
    for name, rest in steps((DEPLOY / "Containerfile").read_text("utf-8")):
        made.step(name, rest, context)
    (made.workdir / "agents").mkdir()
    (made.workdir / "agents" / "agent.toml").write_text('model = "offline"\ntools = ["calc"]\n')
    return made


def interpolated(value: Any, variables: Mapping[str, str]) -> Any:
    """A value of a compose file with its variables."""
    if isinstance(value, dict):
        return {name: interpolated(each, variables) for name, each in value.items()}
    if isinstance(value, list):
        return [interpolated(each, variables) for each in value]
    if not isinstance(value, str):
        return value

    def replaced(match: re.Match[str]) -> str:
        return variables.get(match[1]) or match[2] or pytest.fail(f"{match[1]} is not set")

    return VARIABLE.sub(replaced, value)


def free_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as bound:
        return str(bound.getsockname()[1])


@contextmanager
def started(root: Root, service: dict[str, Any], **more: str) -> Iterator[subprocess.Popen[str]]:
    """A service of the compose file; its secrets lie in the root."""
    command = [
        str(root.folder / "secrets" / word.rpartition("/")[2])
        if word.startswith("/run/secrets/")
        else word
        for word in [*root.entrypoint, *service["command"]]
    ]
    process = subprocess.Popen(
        command, cwd=root.workdir, env={**root.variables(), **service["environment"], **more},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def told(process: subprocess.Popen[str], event: str) -> dict[str, Any]:
    """The next line of a worker's log with this event."""
    assert process.stdout is not None
    for line in process.stdout:
        if (news := json.loads(line))["event"] == event:
            return dict(news)
    return pytest.fail(f"it ended without {event}: {process.communicate()[1]}")


@pytest.mark.slow
def test_the_services_of_the_compose_file_work_together_and_drain(
    root: Root, postgres_server: Server
) -> None:
    (root.folder / "secrets").mkdir()
    (root.folder / "secrets" / "tokens").write_text(f"root admin {TOKEN}\n")
    port, health = free_port(), free_port()
    variables = {
        "POSTGRES_PASSWORD": "x", "CLEW_TOKENS": "tokens", "SERVER_PORT": port,
        "HEALTH_PORT": health, "LISTEN": "127.0.0.1",
    }  # fmt: skip
    composed = interpolated(yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8")), variables)
    services = composed["services"]
    database = {"CLEW_STORE": postgres_server.database()}
    assert services["worker"]["environment"]["CLEW_STORE"].startswith("postgresql://")
    with ExitStack() as stack:
        worker = stack.enter_context(started(root, services["worker"], **database))
        server = stack.enter_context(started(root, services["server"], **database))
        told(worker, "serving")
        assert server.stderr is not None
        assert "serving agent" in server.stderr.readline()
        probe = services["worker"]["healthcheck"]["test"]
        subprocess.run([root.venv / "bin" / probe[1], *probe[2:]], check=True)
        with httpx2.Client(
            base_url=f"http://127.0.0.1:{port}", headers={"authorization": f"Bearer {TOKEN}"},
            timeout=PATIENCE,
        ) as client:  # fmt: skip
            asked = {"agent": "agent", "question": "What is 17 * 23?"}
            run_id = client.post("/api/runs", json=asked).json()["run_id"]
            ended = told(worker, "ended")
            assert (ended["run"], ended["text"]) == (run_id, "answered")
            assert client.get(f"/api/runs/{run_id}").json()["status"] == "answered"
            assert client.get("/healthz").text == "ok\n"
        for process in (worker, server):
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0


@pytest.mark.slow
def test_the_command_of_the_container_file_starts_a_worker_on_a_store_of_its_own(
    root: Root,
) -> None:
    command = [word.replace("0.0.0.0:9464", "0") for word in root.command]
    service: dict[str, Any] = {"command": command, "environment": {}}
    with started(root, service) as worker:
        told(worker, "serving")
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(PATIENCE) == 0
    assert (root.workdir / "data" / "runs.sqlite").exists()


def test_the_unit_starts_a_worker_that_uses_no_agents_but_its_own(tmp_path: Path) -> None:
    unit = (DEPLOY / "clew-worker.service").read_text("utf-8")
    [start] = re.findall(r"^ExecStart=(.+)$", unit, re.MULTILINE)
    program, name, *words = shlex.split(start)
    assert name == "worker"
    with worker_command.make_context("worker", words) as context:
        assert (context.params["only"], context.params["log"]) == (True, "json")
    if (analyze := shutil.which("systemd-analyze")) is None:
        pytest.skip("systemd-analyze is not here: the unit is not verified")
    (tmp_path / "clew-worker.service").write_text(unit.replace(program, "/bin/true"))
    verified = subprocess.run(
        [analyze, "verify", tmp_path / "clew-worker.service"], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    complaints = [line for line in verified.stderr.splitlines() if "clew-worker" in line]
    assert complaints == []
