"""Recorded runs written for these tests: every kind of ending, and every oddity once."""

import gzip
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

Record: TypeAlias = dict[str, Any]
Turn: TypeAlias = dict[str, Any]


def call(name: str, argument: str) -> list[dict[str, str]]:
    """The actions of a turn that makes one call."""
    return [{"name": name, "arg": argument}]


def turn(raw: str, thought: str | None, actions: object, seen: str, *flags: str) -> Turn:
    """A turn as it is written down; its number is given by `record`."""
    return {
        "raw": raw,
        "thought": thought,
        "actions": actions,
        "observation": seen,
        "flags": list(flags),
    }


def record(id_: str, turns: Sequence[Turn], **more: object) -> Record:
    """A record, its turns numbered."""
    numbered = [{**one, "step": step} for step, one in enumerate(turns, start=1)]
    return {"id": id_, "task": "Which of the two rivers is longer?", "turns": numbered, **more}


# ---------------------------------------------------------------- FEVER

WIKI = [{"name": n, "arg": a} for n, a in (("search", "entity"), ("lookup", "keyword"))]
FINISH = {"name": "finish", "arg": "answer"}


def looked(step: int, word: str) -> Turn:
    """A turn that looks for a word and does not find it."""
    raw = f" I look for {word}.\nAction {step}: Lookup[{word}]"
    return turn(raw, f"I look for {word}.", call("lookup", word), "No more results.\n")


def ended(step: int, answer: str) -> Turn:
    """A turn that finishes."""
    raw = f" That settles it.\nAction {step}: Finish[{answer}]"
    return turn(raw, "That settles it.", call("finish", answer), "Episode finished\n")


def fever(id_: str, turns: Sequence[Turn], answer: str, gold: str) -> Record:
    """A FEVER run; one without an answer was ended by the original."""
    outcome = {"em": int(answer == gold), "forced_finish": not answer}
    fields = {"final_answer": answer, "gold": gold, "outcome": outcome}
    return record(id_, turns, tools=[*WIKI, FINISH], max_steps=7, **fields)


def below(step: int) -> Turn:
    """An answer two lines below its label, which the original refused."""
    text = "\n\nFinish[REFUTES]"
    raw = f" The lake is no river.\nAction {step}: {text}"
    seen = "Invalid action: Finish[REFUTES]"
    return turn(raw, "The lake is no river.", [], seen, "env_invalid_action")


def asked_again(raw: str, second: str) -> Turn:
    """A reply that the original could not read, and the second it asked for."""
    failed_turn = turn(
        raw, raw, call("finish", "SUPPORTS"), "Episode finished\n", "original_parse_failure"
    )
    return {**failed_turn, "repair_call_raw": second}


FEVER = [
    fever("right", [looked(1, "delta"), ended(2, "SUPPORTS")], "SUPPORTS", "SUPPORTS"),
    fever("wrong", [ended(1, "REFUTES")], "REFUTES", "SUPPORTS"),
    fever("forced", [looked(step, f"word {step}") for step in range(1, 8)], "", "SUPPORTS"),
    fever(
        "looping",
        [looked(step, "delta") for step in range(1, 7)] + [ended(7, "REFUTES")],
        "REFUTES",
        "REFUTES",
    ),
]
READ_AT_ONCE = fever(
    "read at once",
    [asked_again(" Enough.\n\nAction 1:\n\nFinish[SUPPORTS]", "Finish[SUPPORTS]")],
    "SUPPORTS",
    "SUPPORTS",
)
CUT = fever(
    "cut",
    [looked(1, "delta"), asked_again(" The article says that the", "Finish[SUPPORTS]")],
    "SUPPORTS",
    "SUPPORTS",
)
CHANGED_MIND = fever(
    "changed its mind",
    [asked_again(" Enough.\n\nAction 1:\n\nFinish[REFUTES]", "Finish[SUPPORTS]")],
    "SUPPORTS",
    "SUPPORTS",
)
REFUSED = fever("refused", [below(step) for step in range(1, 8)], "", "REFUTES")

# ---------------------------------------------------------------- WebShop

SHOP = [{"name": n, "arg": a} for n, a in (("search", "query"), ("click", "button"))]
THINK = {"name": "think", "arg": "text"}


def thinks(text: str, closing: str = "]") -> Turn:
    """A turn that only thinks; without `closing` it was cut."""
    flags = () if closing else ("unclosed_or_no_bracket",)
    return turn(f"think[{text}{closing}", text, [], "OK.", *flags)


def does(name: str, argument: str, seen: str, closing: str = "]") -> Turn:
    """A turn that searches or clicks."""
    odd = seen == "Invalid action!" or not closing
    flags = ("env_invalid_action",) if odd else ()
    return turn(f"{name}[{argument}{closing}", None, call(name, argument), seen, *flags)


def shop(id_: str, turns: Sequence[Turn], *, success: bool, ended: bool) -> Record:
    """A WebShop episode."""
    outcome = {"success": success, "ended": ended, "reward": float(success)}
    fields = {"final_answer": None, "gold": None, "outcome": outcome}
    return record(id_, turns, tools=[*SHOP, THINK], max_steps=15, **fields)


BUY = does("click", "Buy Now", "Your score (min 0.0, max 1.0): 1.0")
LAMP = [
    does("search", "lamp [blue], small", "\n[Back to Search] \n[L1] \nA lamp"),
    thinks("L1 has [blue] and costs little."),
    does("click", "L1", "\n[Buy Now]"),
]
WEBSHOP = [
    shop("bought", [*LAMP, BUY], success=True, ended=True),
    shop("bought the wrong lamp", [*LAMP, BUY], success=False, ended=True),
    shop("never bought", [does("click", "no", "Invalid action!")] * 14, success=False, ended=False),
    shop(
        "sold out at first",
        [does("click", "Buy Now", "Invalid action!"), *LAMP, BUY],
        success=True,
        ended=True,
    ),
    shop("cut thought", [*LAMP, thinks("I take 'blue', '", ""), BUY], success=True, ended=True),
]
CUT_CLICK = shop(
    "cut click",
    [*LAMP, does("click", "blue", "You have clicked blue.", ""), BUY],
    success=True,
    ended=True,
)

# ---------------------------------------------------------------- FireAct


def fire(id_: str, turns: Sequence[Turn], answer: str, gold: str) -> Record:
    """A FireAct run; its answers are kept in their normal form."""
    fields = {"final_answer": answer, "gold": gold, "outcome": {"em": answer == gold}}
    return record(id_, turns, tools=[{"name": "search", "arg": "query"}, FINISH], **fields)


def acts(name: str, argument: str, seen: str, *flags: str) -> Turn:
    """A turn in FireAct's words."""
    raw = f"Thought: I go on.\nAction: {name}[{argument}]"
    return turn(raw, "Thought: I go on.", call(name, argument), seen, *flags)


def both(name: str, first: str, seen: str) -> Turn:
    """Two calls in a reply, of which the original made one argument."""
    told = f"{first}]\nThought: Then the next.\nAction: search[the next"
    return acts(name, told, seen, "multiple_actions_in_turn", "action_not_clean")


FIREACT = [
    fire(
        "found",
        [acts("search", "rivers", "Two rivers."), acts(" finish", "The Po.", "")],
        "po",
        "po",
    ),
    fire("missed", [acts("finish", "The [Lower] Rhine", "")], "lower rhine", "po"),
]
SEVERAL = fire("several", [both("search", "rivers", "Two."), acts("finish", "Po", "")], "po", "po")
ANSWERED_TWICE = fire(
    "answered twice",
    [both("finish", "Po", "")],
    "po thought then next action searchthe next",
    "po",
)
NO_TOOL = fire(
    "no tool",
    [acts(" reflect", "on it", "an exception", "tool_error"), acts("finish", "Po", "")],
    "po",
    "po",
)

# ---------------------------------------------------------------- Reflexion

TOPICS = [{"name": name, "arg": "topic"} for name in ("Search", "Lookup")]


def two_calls(name: str, argument: str, seen: str) -> Turn:
    """A turn whose thought and action were two replies."""
    first_turn = turn(" I go on.", "I go on.", call(name, argument), seen)
    return {**first_turn, "raw_action": f" {name}[{argument}]"}


def reflexion(id_: str, turns: Sequence[Turn], answer: str | None, status: str) -> Record:
    """A trial; the gold answer is the Po."""
    tools = [*TOPICS, {"name": "Finish", "arg": "answer"}]
    fields = {"final_answer": answer, "gold": "The Po", "outcome": {"status": status}}
    return record(id_, turns, tools=tools, max_steps=6, memory="I was too quick.", **fields)


LONG = "A very long article. " * 300
REFLEXION = [
    reflexion(
        "correct",
        [two_calls("Search", "Po", "A river."), two_calls("Finish", "po", "")],
        "po",
        "correct",
    ),
    reflexion("incorrect", [two_calls("Finish", "Rhine", "")], "Rhine", "incorrect"),
    reflexion(
        "six steps", [two_calls("Lookup", f"{n}", "None.") for n in range(6)], None, "halted"
    ),
    reflexion("too long", [two_calls("Search", f"{n}", LONG) for n in range(2)], None, "halted"),
]
ONE_LINE = reflexion(
    "one line",
    [two_calls("Search", "Po], Search[Rhine", "Not found."), two_calls("Finish", "Po", "")],
    "Po",
    "correct",
)

HEADER = "You have attempted to answer following question before and failed.\nReflections:\n"
FIRST, SECOND = "I was too quick.", "I took the wrong river:\n- look at the map."
TO_THE_RHINE = [two_calls("Finish", "Rhine", "")]
TO_THE_PO = [two_calls("Search", "Po", "A river."), two_calls("Finish", "po", "")]
LOST = [two_calls("Lookup", f"{number}", "None.") for number in range(6)]


def trial(number: int, turns: Sequence[Turn], status: str, *told: str, task: str = "") -> Record:
    """The nth trial of a question; `told` are the reflections that it was shown."""
    answer = {"correct": "po", "incorrect": "Rhine"}.get(status)
    made = reflexion(f"{task}-{number}", turns, answer, status)
    memory = HEADER + "\n".join(f"- {text}" for text in told) if number > 1 else None
    return {**made, "trial": number, "memory": memory, "source": "own", "task": f"Which? {task}"}


LEARNT = [
    trial(1, TO_THE_RHINE, "incorrect", task="learnt"),
    trial(2, LOST, "halted", FIRST, task="learnt"),
    trial(3, TO_THE_PO, "correct", FIRST, SECOND, task="learnt"),
]

KINDS = {
    "react-fever": [*FEVER, READ_AT_ONCE, CUT, REFUSED],
    "react-webshop": WEBSHOP,
    "fireact-hotpot": [*FIREACT, SEVERAL, ANSWERED_TWICE, NO_TOOL],
    "reflexion-hotpot": [*REFLEXION, ONE_LINE],
}


def written(folder: Path, kinds: dict[str, Sequence[Record]], prefix: str = "own") -> None:
    """The records as files, as recordings lie in their folder."""
    for kind, records in kinds.items():
        _write(folder / f"{prefix}-{kind}.jsonl.gz", records)


def _write(path: Path, records: Iterable[Record]) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        lines.writelines(f"{json.dumps(one)}\n" for one in records)
