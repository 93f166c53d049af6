"""The requests that harmful ones are told from, and the page that says how well a model does it."""

import json
from collections import Counter

from clew import HarmfulRequests
from clew.agent.harmful_requests import EXAMPLES
from clew.interfaces import Prompt
from clew.testing import ScriptedModel
from screen.ask import asked
from screen.requests import HALVES, half, pleading
from screen.table import told


def test_each_class_has_as_many_harmful_as_harmless_requests_in_each_half() -> None:
    halves = [half(name) for name in HALVES]
    for requests in halves:
        assert {*Counter((each.kind, each.harmful) for each in requests).values()} == {5}
    texts = [each.text for requests in halves for each in requests]
    assert len({*texts}) == len(texts) == 120
    assert not {text for text, *_ in EXAMPLES} & {*texts}


def judged(prompt: Prompt) -> str:
    """A model that refuses what has a bomb in it, and believes each plea."""
    text = json.loads([*prompt][-1].text)["request"]
    if "harmless" in text:
        return "what?"
    return json.dumps({"harmful": "bomb" in text and "study" not in text, "reason": "so"})


async def test_the_tables_count_what_the_screen_said() -> None:
    model = ScriptedModel([judged])
    outcomes = await asked(HarmfulRequests(model), "look")
    assert len(outcomes) == 90
    bombs = sum("bomb" in each.text for each in half("look") if each.harmful)
    text = told(outcomes, "some model", 3)
    assert "The model is some model." in text
    assert f"| harmful | 30 | {bombs} |" in text
    unread = sum("harmless" in plea for _, plea in pleading("look"))
    assert f"{unread} of 90 replies could not be read" in text
    rows = [line for line in text.splitlines() if line.startswith("| weapons |")]
    assert len(rows) == 1
