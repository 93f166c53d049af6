"""`clew eval run` as a person has it: what is told, and how it ends."""

import json
from pathlib import Path
from typing import Any

import click
import pytest

from clew import ConfigError
from clew_evals.cli.eval_run import EvalOptions, evaluate_and_report
from clew_testing.servers.openai_server import OpenAIServer, Say
from tests.cli.shell import clew

CASES = [
    {"id": f"c{n}", "question": f"What is {n} + {n}?", "gold": {"number": 2 * n}}
    for n in range(1, 4)
]


@pytest.fixture(autouse=True)
def _cases() -> None:
    Path("sums.jsonl").write_text("".join(json.dumps(case) + "\n" for case in CASES))


def wanted(target: str | None = "sums.jsonl", **more: Any) -> EvalOptions:
    parts: dict[str, Any] = {
        "judge": None, "results": None, "at_once": 1, "max_cost": None, "only": (), "first": None,
        "arguments": {"model": "offline"} if target != "sums.toml" else {}, **more,
    }  # fmt: skip
    return EvalOptions(target, **parts)


def carried(
    capsys: pytest.CaptureFixture[str], options: EvalOptions, **how: bool
) -> tuple[int, str, str]:
    """The exit code, stdout and stderr."""
    code = evaluate_and_report(options, **{"check": False, "as_json": False, "quiet": False, **how})
    out, err = capsys.readouterr()
    return code, out, err


def test_a_dataset_is_answered_by_the_agent_of_the_options(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, err = carried(capsys, wanted())
    assert code == 0
    assert err.splitlines() == [
        "3 trials, 3 to do",
        "about $0.00 (guessed from 4 steps a run), at most $0.00 by the runs' limits",
        "1 of 3 · 1 passed · $0.0000",
        "2 of 3 · 2 passed · $0.0000",
        "3 of 3 · 3 passed · $0.0000",
    ]
    assert "100.0%" in out
    assert out.splitlines()[-1] == "$0.0000 · clew eval report sums.sqlite"
    code, out, err = carried(capsys, wanted())
    assert err == "3 trials, 0 to do, 3 done before\n"
    code, out, err = carried(capsys, wanted(results="sums.sqlite"), quiet=True, as_json=True)
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert (document["complete"], document["results"], document["left"]) == (True, "sums.sqlite", 0)
    assert [one["case"] for one in document["outcomes"]] == ["c1", "c2", "c3"]


def test_documents_that_nobody_will_find_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("notes").mkdir()
    Path("notes", "a.md").write_text("Torvik has a lighthouse.\n")
    Path("notes", "b.txt").write_bytes(bytes(1000))
    fields = {"model": "offline", "docs": "notes"}
    code, out, _ = carried(capsys, wanted(arguments=fields), check=True)
    assert code == 0
    assert f"not searched in {Path('notes').resolve()}: b.txt: " in out


def test_tools_of_golds_that_nobody_has_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    gold = {"any_of": [{"calls": "clac"}, {"calls": "calc"}, "x"]}
    case = {"id": "a", "question": "Why?", "gold": [gold, {"avoids": "sned"}]}
    Path("sums.jsonl").write_text(json.dumps(case) + "\n")
    _, out, _ = carried(capsys, wanted(), check=True)
    assert out.splitlines()[-1] == "no configuration has what golds name as a tool: clac, sned"


def test_trials_that_wait_for_a_person_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    script = [{"calls": [["ask_person", {"question": "Which mill?"}]]}, {"answer": "That one."}]
    case = {"id": "a", "question": "Which?", "gold": "that one", "extra": {"script": script}}
    Path("sums.jsonl").write_text(json.dumps(case) + "\n")
    tools = (
        'dataset = "sums.jsonl"\nmodels = ["simulated:strong"]\n[agent]\ntools = ["ask_person"]\n'
    )
    Path("sums.toml").write_text(tools)
    _, _, err = carried(capsys, wanted("sums.toml"))
    assert "1 trial held: clew show agent-simulated-strong-a-s0-r1-" in err
    assert err.splitlines()[-1].endswith(" --store sums.sqlite says what for; ruled on, it goes on")


@pytest.mark.parametrize(
    ("fields", "error", "told"),
    [
        ({"target": "sums.txt"}, click.UsageError, "is neither a matrix file"),
        ({"target": "sums.toml", "arguments": {"steps": 3}}, click.UsageError, "leave --steps"),
        ({"target": "sums.toml", "judge": "offline"}, click.UsageError, "leave --judge out"),
        ({"target": "none.jsonl"}, ConfigError, "none.jsonl cannot be read"),
        ({"only": ("x",)}, ConfigError, "no configuration 'x'"),
        (
            {"arguments": {"model": "vllm:x"}, "max_cost": 1.0},
            None,
            "",
        ),
        (
            {"arguments": {"model": "openrouter:x/y"}, "max_cost": 1.0},
            ConfigError,
            "needs models with known prices",
        ),
    ],
)
def test_what_cannot_be_meant_is_told(
    fields: dict[str, Any],
    error: type[Exception] | None,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-of-a-test")
    if error is None:  # a local model costs nothing, which is a known price
        assert evaluate_and_report(wanted(**fields), check=True, as_json=False, quiet=True) == 0
        return
    with pytest.raises(error) as caught:
        evaluate_and_report(wanted(**fields), check=False, as_json=False, quiet=True)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("usage", "told"),
    [
        ({}, "cost unknown"),
        ({"prompt_tokens": 0, "completion_tokens": 0}, "cost unknown"),
        ({"prompt_tokens": 9, "completion_tokens": 2}, "cost unknown"),
        ({"prompt_tokens": 9}, "cost unknown"),
        ({"completion_tokens": 2}, "cost unknown"),
        ({"prompt_tokens": 9, "completion_tokens": 2, "cost": None}, "cost unknown"),
        ({"prompt_tokens": 9, "completion_tokens": 2, "cost": "much"}, "cost unknown"),
        ({"prompt_tokens": 9, "completion_tokens": 2, "cost": -1}, "cost unknown"),
        ({"prompt_tokens": "9", "completion_tokens": "2"}, "cost unknown"),
        ({"prompt_tokens": -9, "completion_tokens": 2}, "cost unknown"),
        ({"prompt_tokens": 9, "completion_tokens": 2, "cost": 0.25}, "$0.2500"),
        ({"prompt_tokens": 9, "completion_tokens": 2, "cost": 0.5}, "$0.5000"),
    ],
)
def test_a_cost_that_nobody_knows_is_not_told_as_nothing(usage: dict[str, Any], told: str) -> None:
    with OpenAIServer(lambda _: Say("2", usage=usage)) as server:
        done = clew(
            *("eval", "run", "sums.jsonl", "--first", "1"),
            *("--model", "openrouter:vendor/unpriced"),
            env={"OPENROUTER_BASE_URL": server.base_url, "OPENROUTER_API_KEY": "any"},
        )
    assert f"· {told}" in done.err.splitlines()[-1]
    assert done.out.splitlines()[-1].startswith(f"{told} · clew eval report")


def test_the_group_shows_what_there_is() -> None:
    done = clew("eval")
    assert (done.code, "report" in done.err) == (2, True)
