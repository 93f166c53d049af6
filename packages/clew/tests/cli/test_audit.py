"""`--checks grounded` and `clew show --audit`, as a user has them."""

from pathlib import Path

import pytest

from clew import Agent, Evidence, Observation, run_sync, tool
from clew.evidence import CANNOT_ANSWER, Grounded
from clew.testing.models import ScriptedModel, act, finish, say
from tests.cli.shell import clew, library

QUESTION = "When was Mary Shelley born?"


@tool(effect="read")
def look() -> Observation:
    """Look."""
    piece = Evidence("doc_1", "Mary Shelley was born in London in 1797.", 0.9, "mary.md", 10)
    weak = Evidence("doc_2", "She had 77 cats.", 0.2, "rumour.md")
    return Observation(content="x", evidence=(piece, weak))


def record(*moves: object, **fields: object) -> str:
    agent = Agent(model=ScriptedModel(list(moves)), tools=[look], **fields)  # type: ignore[arg-type]  # moves of a script
    return run_sync(agent, QUESTION, store="runs.sqlite").run_id


def test_an_answer_from_documents_is_borne_out() -> None:
    asked = clew("ask", QUESTION, "--docs", library(), "--checks", "grounded", "--json")
    assert asked.document["status"] == "answered"
    shown = clew("show", "last", "--audit").out
    assert "(answered): the answer is supported" in shown
    assert "  + date '30 August 1797' in [doc_" in shown
    document = clew("show", "last", "--audit", "--json").document
    assert (document["ok"], document["problems"]) == (True, [])
    assert document["claims"][0]["state"] == "supported"
    assert "Grounded(threshold=0.5" in clew("show", "last", "--json").out


def test_what_is_not_borne_out_is_shown_with_its_reason() -> None:
    run_id = record(act("look"), say("She was born in 1799 [doc_1]. She had 77 cats [doc_2]. Yes."))
    shown = clew("show", run_id, "--audit", "--store", "runs.sqlite").out
    assert "the answer is not supported" in shown
    assert "Unsupported: She was born in 1799 [doc_1].\n  - date '1799' does not stand in" in shown
    assert "[doc_2] is weak evidence" in shown
    assert "Not checkable: Yes." in shown
    assert "rumour.md (score 0.20) weak" in shown
    lower = clew("show", run_id, "--audit", "--threshold", "0.1", "--store", "runs.sqlite").out
    assert "Supported: She had 77 cats [doc_2]." in lower
    bare = record(act("look"), say("Yes."))
    assert "cites nothing" in clew("show", bare, "--audit", "--store", "runs.sqlite").out


def test_of_a_fallback_the_last_offer_is_shown() -> None:
    checks, wrong = [Grounded()], "She was born in 1799 [doc_1]."
    for last in (finish(wrong), say(wrong)):
        run_id = record(act("look"), last, checks=checks, tries=0, fallback=CANNOT_ANSWER)
        shown = clew("show", run_id, "--audit", "--store", "runs.sqlite").out
        assert "(failed): the answer is not supported" in shown
        assert "Unsupported: She was born in 1799" in shown


def test_what_cannot_be_audited_is_said() -> None:
    clew("ask", QUESTION, "--docs", library())
    assert clew("show", "last", "--audit", "--prompt").code == 2
    assert clew("show", "last", "--threshold", "0.4").code == 2
    assert clew("show", "last", "--audit", "--threshold", "4").code == 2


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (
            'checks = ["grounded"]\n[grounded]\nthreshold = 2.0',
            "threshold is 2.0: scores lie between 0 and 1",
        ),
        ('grounded = { scope = "page" }', "page"),
        ("grounded = {}", "these are settings of a check: add 'grounded' to checks"),
        ("grounded = true", "grounded: expected object, got bool"),
        (
            'checks = ["grouned"]',
            "there is no check 'grouned': there are grounded, and module:name",
        ),
    ],
)
def test_settings_in_a_file_are_checked_with_their_line(said: str, why: str) -> None:
    Path("a.toml").write_text(f'model = "offline"\n{said}\n', "utf-8")
    done = clew("ask", "What is 2+3?", "--agent", "a.toml")
    assert done.code == 2
    assert "line " in done.err
    assert why in done.err


def test_a_file_says_how_strict_it_is() -> None:
    settings = 'grounded = { threshold = 0.2, scope = "paragraph" }'
    text = f'model = "offline"\nchecks = ["grounded"]\n{settings}\n'
    Path("a.toml").write_text(text, "utf-8")
    assert clew("ask", "What is 2+3?", "--agent", "a.toml").code == 0
    assert "Grounded(threshold=0.2" in clew("show", "last", "--json").out
