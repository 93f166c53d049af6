"""`clew eval` as a person has it: what is told, and how it ends."""

import json
from pathlib import Path
from typing import Any

import click
import pytest

from clew import ConfigError
from clew.cli.eval import Wanted
from clew.cli.evaluating import carry_out
from clew.evals import Results
from clew.testing.openai_server import Fail, OpenAIServer, Say, Turn

CASES = [
    {"id": f"c{n}", "question": f"What is {n} + {n}?", "gold": {"number": 2 * n}}
    for n in range(1, 4)
]
MATRIX = """
dataset = "sums.jsonl"
models = ["openai:gpt-4.1-mini"]
[agent]
tools = []
[agent.connection]
base_url = "{url}"
patience = 0.01
[[configurations]]
name = "plain"
[[configurations]]
name = "brief"
set.prompt = "Be brief."
"""


@pytest.fixture(autouse=True)
def _cases() -> None:
    Path("sums.jsonl").write_text("".join(json.dumps(case) + "\n" for case in CASES))


def wanted(target: str | None = "sums.jsonl", **more: Any) -> Wanted:
    parts: dict[str, Any] = {
        "judge": None, "results": None, "at_once": 1, "max_cost": None, "only": (), "first": None,
        "given": {"model": "offline"} if target != "sums.toml" else {}, **more,
    }  # fmt: skip
    return Wanted(target, **parts)


def carried(capsys: pytest.CaptureFixture[str], given: Wanted, **how: bool) -> tuple[int, str, str]:
    """The exit code, stdout and stderr."""
    code = carry_out(given, **{"check": False, "as_json": False, "quiet": False, **how})
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
        "1 of 3 · 1 right · $0.0000",
        "2 of 3 · 2 right · $0.0000",
        "3 of 3 · 3 right · $0.0000",
    ]
    assert "100.0%" in out
    assert out.splitlines()[-1] == "$0.0000 · clew report sums.sqlite"
    code, out, err = carried(capsys, wanted())
    assert err == "3 trials, 0 to do, 3 done before\n"
    code, out, err = carried(capsys, wanted(results="sums.sqlite"), quiet=True, as_json=True)
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert (document["complete"], document["results"], document["left"]) == (True, "sums.sqlite", 0)
    assert [one["case"] for one in document["outcomes"]] == ["c1", "c2", "c3"]


def test_a_check_spends_nothing_and_leaves_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with OpenAIServer() as server:
        Path("sums.toml").write_text(MATRIX.replace("{url}", server.base_url))
        code, out, err = carried(capsys, wanted("sums.toml"), check=True)
        assert (code, err) == (0, "")
        assert out.splitlines()[:2] == ["sums: everything fits.", "6 trials, 6 to do"]
        assert out.splitlines()[2].endswith("at most $6.00 by the runs' limits")
        code, out, _ = carried(capsys, wanted("sums.toml"), check=True, as_json=True)
        assert json.loads(out)["todo"] == 6
        assert not server.requests
    assert not Path("sums.sqlite").exists()


def test_the_cost_limit_ends_it_and_a_higher_one_goes_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    usage = {"prompt_tokens": 50_000, "completion_tokens": 0, "total_tokens": 50_000}
    with OpenAIServer(lambda body: Say("It is 2.", usage=usage)) as server:
        Path("sums.toml").write_text(MATRIX.replace("{url}", server.base_url))
        code, out, err = carried(capsys, wanted("sums.toml", max_cost=0.03))
        assert code == 3
        assert "stopped by cost: $0.0400 of $0.0300 spent" in err
        assert "4 trials not done: a higher --max-cost goes on" in err
        code, out, err = carried(capsys, wanted("sums.toml"))
        assert code == 0
        assert len(server.requests) == 6
    assert "$0.1200 · clew report" in out


def test_trials_that_failed_are_told_and_tried_again(capsys: pytest.CaptureFixture[str]) -> None:
    script: list[Turn] = [Say("It is 2."), Fail(401), Say("It is 6.")]
    with OpenAIServer(script) as server:
        Path("sums.toml").write_text(MATRIX.replace("{url}", server.base_url))
        code, _, err = carried(capsys, wanted("sums.toml", only=("plain",)))
    assert code == 5
    assert "1 trial failed (the last: " in err
    assert "refused the key" in err
    results = Results("sums.sqlite")
    assert [one.kind for one in results.outcomes()] == [None, "failed", None]
    results.close()


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        ({"target": "sums.txt"}, click.UsageError, "neither a matrix file"),
        ({"target": "sums.toml", "given": {"max_steps": 3}}, click.UsageError, "leave --max-steps"),
        ({"target": "sums.toml", "judge": "offline"}, click.UsageError, "leave --judge out"),
        ({"target": "none.jsonl"}, ConfigError, "none.jsonl cannot be read"),
        ({"only": ("x",)}, ConfigError, "no configuration 'x'"),
        (
            {"given": {"model": "vllm:x"}, "max_cost": 1.0},
            None,
            "",
        ),
        (
            {"given": {"model": "openrouter:x/y"}, "max_cost": 1.0},
            ConfigError,
            "needs models with known prices",
        ),
    ],
)
def test_what_cannot_be_meant_is_told(
    given: dict[str, Any],
    error: type[Exception] | None,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-of-a-test")
    if error is None:  # a local model costs nothing, which is a known price
        assert carry_out(wanted(**given), check=True, as_json=False, quiet=True) == 0
        return
    with pytest.raises(error) as caught:
        carry_out(wanted(**given), check=False, as_json=False, quiet=True)
    assert told in str(caught.value)
