"""The programs of other systems, each started once in its environment and asked line by line."""

import ast
import hashlib
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from clew.core.tools import Tool
from live.others.systems import PROGRAMS, System, start, versions

Reply: TypeAlias = dict[str, Any]
"""What a system came to: its answer, a status, and a reason where it failed."""


class Running:
    """Programs that run, by the names of their systems."""

    def __init__(self, environments: Path) -> None:
        self.environments = environments
        self._programs: dict[str, subprocess.Popen[str]] = {}
        self._versions: dict[str, str] = {}

    def version(self, system: System) -> str:
        """The versions of its packages."""
        if system.program not in self._versions:
            self._versions[system.program] = versions(system, self.environments)
        return self._versions[system.program]

    def fingerprint(self, system: System, steps: int, tokens: int) -> str:
        """What tells its outcomes from others: the program that asks it, and its versions."""
        programs = [
            ast.dump(ast.parse((PROGRAMS / f"{name}.py").read_bytes()))
            for name in (system.program, "questions")
        ]
        text = json.dumps([programs, system.form, self.version(system), steps, tokens])
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def ask(
        self, system: System, address: str, question: str, tools: Sequence[Tool],
        *, steps: int, tokens: int, checked: bool = False,
    ) -> Reply:  # fmt: skip
        """Have it answer; `address` is that of the model, the tools, and the check of an answer."""
        program = self._programs.get(system.name)
        if program is None or program.poll() is not None:
            program = self._programs[system.name] = start(system, self.environments)
        described = [
            {
                "name": one.name,
                "description": one.description,
                "parameters": one.parameters,
                "result": one.result,
            }
            for one in tools
        ]
        asked = {
            "address": address, "question": question, "tools": described,
            "steps": steps, "tokens": tokens, "form": system.form, "checked": checked,
        }  # fmt: skip
        assert program.stdin is not None and program.stdout is not None  # noqa: PT018 -- pipes
        program.stdin.write(json.dumps(asked) + "\n")
        program.stdin.flush()
        if not (line := program.stdout.readline()):
            return {"answer": None, "status": "failed", "reason": "its program ended"}
        reply: Reply = json.loads(line)
        return reply

    def close(self) -> None:
        """End them."""
        for program in self._programs.values():
            program.kill()
            program.wait()
        self._programs.clear()
