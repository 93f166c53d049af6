"""Another framework among the forms: its own environment, the same server, tools and limits."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from live.others.systems import BY_NAME
from live.strategies.configurations import STEPS, TOKENS
from live.strategies.outcomes import read
from tests import unmeasured
from tests.local.tiny_gguf import write_model

ROOT = Path(__file__).parents[2]
STAND_IN = '''
"""In the place of smolagents: it asks the model once, calls the first tool, and answers."""
import json
import urllib.request


class Tool:
    pass


class OpenAIServerModel:
    def __init__(self, model_id, **set):
        self.set = set


class CodeAgent:
    def __init__(
        self, tools, model, instructions, max_steps, verbosity_level, final_answer_checks
    ):
        self.tools, self.model, self.steps = tools, model, max_steps
        self.checks = final_answer_checks or []

    def run(self, question):
        if self.checks:
            return self.checked(question.split("def ")[1].split("(")[0])
        asked = {
            "messages": [{"role": "user", "content": question[:40]}],
            "max_tokens": 3,
            "temperature": self.model.set["temperature"],
        }
        body = json.dumps(asked).encode()
        head = {"Content-Type": "application/json"}
        address = self.model.set["api_base"] + "/chat/completions"
        urllib.request.urlopen(urllib.request.Request(address, body, head)).read()
        found = self.tools[0].forward("mirror")
        return json.dumps([found, self.steps, self.model.set["max_tokens"]])

    def checked(self, name):
        said = []
        for answer in ("It is fine.", f"def {name}(n): return n"):
            try:
                assert all(check(answer, [], agent=self) for check in self.checks)
                said.append("accepted")
            except ValueError as error:
                said.append(str(error))
        return json.dumps(said)
'''


def environment(folder: Path) -> None:
    """An environment as if it had been installed, with the stand-in."""
    system = BY_NAME["smolagents CodeAgent"]
    path, packages = folder / system.environment, folder / "packages"
    (path / "bin").mkdir(parents=True)
    (packages / "smolagents-0.1.dist-info").mkdir(parents=True)
    (packages / "smolagents.py").write_text(STAND_IN, encoding="utf-8")
    about = "Metadata-Version: 2.1\nName: smolagents\nVersion: 0.1\n"
    (packages / "smolagents-0.1.dist-info" / "METADATA").write_text(about, encoding="utf-8")
    python = path / "bin" / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={packages} exec {sys.executable} "$@"\n', "utf-8")
    python.chmod(0o755)
    (path / "installed").touch()


def asked(folder: Path, source: str, *more: str, how: str = "--ask-only", **variables: str) -> None:
    """Ask the first task of a source."""
    told: list[str | Path] = [
        *("--sources", source, "--first", "1", "--only", "CodeAgent", "--threads", "1"),
        *("--outcomes", folder / "outcomes", "--records", folder / "runs.sqlite"),
        *("--environments", folder / "environments", how),
        *more,
    ]
    command = [sys.executable, "-m", "live.strategies", write_model(folder / "r.gguf"), *told]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=unmeasured.environment() | variables,
    )
    assert done.returncode == 0, done.stderr
    assert ("| `CodeAgent` |" in done.stdout) == (how == "--print")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in's interpreter is a script of sh")
def test_another_framework_answers_with_the_same_tools_and_limits(tmp_path: Path) -> None:
    environment(tmp_path / "environments")
    for how in ("--ask-only", "--print"):
        asked(tmp_path, "goods", how=how)
    (one,) = read(tmp_path / "outcomes")
    (file,) = (tmp_path / "outcomes").glob("*.jsonl")
    assert len(file.read_text("utf-8").splitlines()) == 1
    answer, steps, tokens = json.loads(str(one.answer))
    assert (answer["item"], steps, tokens) == ("mirror", STEPS, TOKENS)
    assert (one.status, one.right, one.calls, one.made) == ("answered", False, 1, {"price": 1})
    assert (one.written, one.prompt > 0, one.version) == (3, True, "smolagents 0.1")
    replies = json.loads((tmp_path / "runs.jsonl").read_text("utf-8"))
    assert (replies["form"], len(replies["replies"])) == ("CodeAgent", 1)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in's interpreter is a script of sh")
def test_its_answers_are_checked_as_those_of_other_forms(tmp_path: Path) -> None:
    environment(tmp_path / "environments")
    bug = 'def rpn_eval(n):\n    return n + 1\n\n\n"""\nThe same number\n"""\n'
    for folder, name, text in (
        ("python_programs", "rpn_eval.py", bug),
        ("json_testcases", "rpn_eval.json", "[[1], 1]\n"),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(text, encoding="utf-8")
    for asking in ("1", "2", "2"):
        asked(tmp_path, "quixbugs", "--asking", asking, CLEW_QUIXBUGS=str(tmp_path))
    first, second = read(tmp_path / "outcomes")
    wrong, right = json.loads(str(first.answer))
    assert wrong.startswith("this is not rpn_eval in Python: answer with all of it")
    assert right == "accepted"
    assert (first.asking, second.asking) == (1, 2)
    assert first.run_id != second.run_id
    assert second.answer == first.answer
