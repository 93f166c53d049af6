"""The systems that answer the same questions, each in an environment of its own."""

import os
import re
import subprocess
import sys
import venv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import platformdirs

from clew import ConfigError
from durability.progress import tell

PROGRAMS: Final = Path(__file__).with_name("inside")
ENVIRONMENTS: Final = Path(platformdirs.user_cache_dir("clew")) / "live"


@dataclass(frozen=True)
class System:
    """A system: what its environment needs, the program that asks it, and in which of its forms."""

    name: str
    packages: tuple[str, ...]
    program: str
    form: str = ""
    what: str = ""

    @property
    def environment(self) -> str:
        """The folder of its environment: those of one program share it."""
        return self.program


SYSTEMS: Final = (
    System("Pydantic AI", ("pydantic-ai-slim[openai]",), "with_pydantic_ai", what="`Agent`"),
    System(
        "smolagents ToolCallingAgent",
        ("smolagents[openai]",),
        "with_smolagents",
        "ToolCallingAgent",
        "`ToolCallingAgent`",
    ),
    System(
        "smolagents CodeAgent",
        ("smolagents[openai]",),
        "with_smolagents",
        "CodeAgent",
        "`CodeAgent`",
    ),
    System(
        "LangGraph",
        ("langchain", "langchain-openai", "langgraph"),
        "with_langgraph",
        what="`create_agent`",
    ),
)
BY_NAME: Final[Mapping[str, System]] = {one.name: one for one in SYSTEMS}


def python_of(system: System, folder: Path) -> Path:
    """The interpreter of a system's environment, which is made where it is not there yet.

    Raises `ConfigError` where its packages cannot be installed.
    """
    path = folder / system.environment
    python = path / "bin" / "python"
    stamp = path / "installed"
    if not stamp.exists():
        tell(f"installing {system.name} (once)\n")
        venv.create(path, with_pip=True, clear=True)
        done = subprocess.run(
            [python, "-m", "pip", "install", "--quiet", *system.packages],
            stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            why = " ".join(done.stderr.split()[-40:])
            raise ConfigError(f"{system.name} cannot be installed into {path}: {why}")
        stamp.touch()
    return python


def versions(system: System, folder: Path) -> str:
    """The versions of its packages, as they are installed."""
    names = [re.split(r"[\[<>=]", name)[0] for name in system.packages]
    line = (
        "import importlib.metadata as m, sys; print(*(f'{n} {m.version(n)}' for n in sys.argv[1:]))"
    )
    python = python_of(system, folder)
    return subprocess.run(
        [python, "-c", line, *names], capture_output=True, text=True, check=True
    ).stdout.strip()


def start(system: System, folder: Path) -> "subprocess.Popen[str]":
    """Start its program, which answers a question a line."""
    # Of our own environment it gets nothing: no key, and no path to other packages.
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    quiet = {"PYDANTIC_AI_NO_LOGFIRE": "1", "LANGSMITH_TRACING": "false", "NO_PROXY": "127.0.0.1"}
    return subprocess.Popen(
        [python_of(system, folder), PROGRAMS / f"{system.program}.py"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=sys.stderr, text=True,
        env={**kept, **quiet},
    )  # fmt: skip
