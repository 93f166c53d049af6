"""Material that nobody has seen: whatever is in the folder, all parts report and none breaks.

The records are those of these tests, of every form, written otherwise: other file names, other
spellings, tools as objects, brackets lost, lines cut, fields gone or added.
"""

import gzip
import json
import random
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from recordings.__main__ import PARTS, measured
from recordings.data import ROOT, VARIABLE, document
from recordings.forms import UNKNOWN, functions, kind_of
from recordings.part import Part
from recordings.report import failures
from tests.recordings import exchanged, gold, redriven, talks
from tests.recordings.test_retrieval import DEFINITIONS, QUERIES
from tests.recordings.test_schemas import HEAT, made

Record = dict[str, Any]

SHAPED = tuple(name for name in PARTS if name not in {"codecs", "retrieval", "everyday"})
"""The parts that are quick on a handful of records, and need no definition to be usable."""
SAMPLES: Final = {"wire": 4}
"""Of the exchanges, and of the places to cut a stream at, every so-manieth: there are many."""


def every() -> list[Record]:
    """A record or more of each kind."""
    texts = [
        one for records in redriven.KINDS.values() for one in records if one["id"] != "looping"
    ]
    sets = [made(HEAT, {"timer": {"minutes": [5]}})]
    everything = [*texts, *talks.TALKS, *gold.RUNS, *sets, *exchanged.RIGHT, *DEFINITIONS, *QUERIES]
    everything += redriven.LEARNT
    copies: list[Record] = json.loads(json.dumps(everything))
    return copies


def laid(folder: Path, lines: Sequence[str], name: str = "some-of-it.jsonl.gz") -> None:
    (folder / talks.PROMPTS).write_text(json.dumps(talks.TOOLS), encoding="utf-8")
    (folder / "bfcl-multiturn-tools.json").write_text(json.dumps(gold.TOOLS), encoding="utf-8")
    with gzip.open(folder / name, "wt", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    document.cache_clear()
    return tmp_path


def parts(names: Sequence[str] = SHAPED) -> dict[str, Part]:
    return {name: measured(name, SAMPLES.get(name, 1)) for name in names}


def missed(parts_by_name: Mapping[str, Part]) -> list[str]:
    return list(failures(list(parts_by_name.values())))


def broken(parts_by_name: Mapping[str, Part]) -> list[str]:
    """What may never be: a part that broke, or clew itself on a record."""
    return [
        line for line in missed(parts_by_name) if "measured: no" in line or "clew broke" in line
    ]


def test_what_a_record_is_stands_in_the_record() -> None:
    kinds = {kind_of(one) for one in every()}
    assert kinds == {
        *("react-fever", "react-webshop", "fireact-hotpot", "reflexion-hotpot", "talks", "wire"),
        *("bfcl-multiturn", "bfcl-single", "retrieval-tools", "retrieval-queries"),
    }
    assert kind_of([1]) == kind_of({"turns": 3}) == kind_of({"a": 1}) == UNKNOWN


def test_functions_may_be_handed_over_in_any_way() -> None:
    one, other = {"name": "a"}, {"type": "function", "function": {"name": "b"}}
    assert functions({"function_declarations": [one, other]}) == [one, other]
    assert functions([{"functionDeclarations": [one]}, other, "x"]) == [one, other]
    assert functions({"tools": [one], "policy": "Be brief."}) == functions(one) == [one]
    assert functions([]) == functions(None) == functions({}) == []


@pytest.mark.slow
def test_files_by_any_name_are_judged_alike(folder: Path) -> None:
    lines = [json.dumps(one) for one in every()]
    random.Random(1).shuffle(lines)
    laid(folder, lines)
    judged_parts = parts()
    assert missed(judged_parts) == []
    judged = [f for part in judged_parts.values() for f in part.figures if "can judge" in f.what]
    assert len(judged) == len(SHAPED) - 1
    assert {figure.got.partition(" ")[0] for figure in judged} == {"1.0000"}


def turns(record: Record) -> list[Record]:
    return record.get("turns") or []


def tools_as_an_object(record: Record, _: random.Random) -> None:
    if isinstance(record.get("tools"), list):
        record["tools"] = {"function_declarations": record["tools"]}
    for one in record.get("interactions") or ():
        request = one.get("request") or {}
        if isinstance(request.get("tools"), list) and request["tools"]:
            request["tools"] = request["tools"][0]


def no_tools(record: Record, _: random.Random) -> None:
    if "gold" in record and not turns(record):
        record["tools"], record["gold"] = [], []


def other_case(record: Record, _: random.Random) -> None:
    for turn in turns(record):
        if isinstance(turn.get("raw"), str):
            for call in turn["actions"]:
                turn["raw"] = turn["raw"].replace(call["name"], call["name"].upper())


def unknown_tools(record: Record, _: random.Random) -> None:
    for turn in turns(record):
        for key in ("raw", "raw_action"):
            if isinstance(turn.get(key), str):
                turn[key] = turn[key].replace("Lookup[", "LookUp[").replace("Search[", "Browse[")


def amid_prose(record: Record, _: random.Random) -> None:
    for turn in turns(record):
        if isinstance(turn.get("raw"), str):
            turn["raw"] = turn["raw"].replace("\nAction", " And so: Action")


def no_bracket(record: Record, _: random.Random) -> None:
    for turn in turns(record):
        for key in ("raw", "raw_action"):
            if isinstance(turn.get(key), str):
                turn[key] = turn[key].removesuffix("]")


def stripped(record: Record, _: random.Random) -> None:
    for turn in turns(record):
        for call in turn.get("actions") or ():
            if isinstance(call.get("arg"), str):
                call["arg"] = call["arg"].strip("[]()")


def forbidden_gold(record: Record, _: random.Random) -> None:
    for turn in turns(record):
        for call in (turn.get("gold_calls") or ())[:1]:
            call["args"] = {**call["args"], "nobody_knows": 1}
    for call in record.get("gold") or () if "turns" not in record else ():
        for args in call.values():
            args["nobody_knows"] = [1]


def more_fields(record: Record, chance: random.Random) -> None:
    for each in (record, *turns(record), *(record.get("interactions") or ())):
        each[f"x_{chance.randrange(9)}"] = {"more": [None, 1]}


PLAIN: Final[Mapping[str, Callable[[Record, random.Random], None]]] = {
    one.__name__: one
    for one in (
        *(tools_as_an_object, no_tools, other_case, unknown_tools, amid_prose, no_bracket),
        *(stripped, forbidden_gold, more_fields),
    )
}
"""Ways in which records of the same form are written; none of them is any fault of clew's."""


@pytest.mark.slow
@pytest.mark.share(3)
@pytest.mark.parametrize("name", PLAIN)
def test_another_way_to_write_the_same_is_no_miss(folder: Path, name: str) -> None:
    records = every()
    for record in records:
        PLAIN[name](record, random.Random(3))
    laid(folder, [json.dumps(one) for one in records])
    assert missed(parts()) == []


def spoiled(record: Any, chance: random.Random) -> Any:
    """One value anywhere in it is gone, or another."""
    if isinstance(record, dict) and record:
        key = chance.choice(sorted(record))
        if chance.random() < 0.3:
            return {name: value for name, value in record.items() if name != key}
        return {**record, key: spoiled(record[key], chance)}
    if isinstance(record, list) and record and chance.random() < 0.8:
        at = chance.randrange(len(record))
        return [*record[:at], spoiled(record[at], chance), *record[at + 1 :]]
    return chance.choice([None, 0, "", "x", [], {}, {"name": 3}, -1.5, True, ["a", {}]])


@pytest.mark.parametrize("seed", range(4))
def test_no_record_breaks_a_part_whatever_is_in_it(folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    laid(folder, [json.dumps(spoiled(one, chance)) for one in every()])
    judged = parts()
    assert broken(judged) == []


@pytest.mark.slow
def test_what_cannot_be_read_is_told_and_the_rest_is_judged(folder: Path) -> None:
    lines = [json.dumps(one) for one in every()]
    laid(folder, [*lines, "{half a li", "[1]", json.dumps({"what": "is this"})])
    data = (folder / "some-of-it.jsonl.gz").read_bytes()
    (folder / "cut.jsonl.gz").write_bytes(data[: len(data) // 2])
    (folder / "none.jsonl.gz").write_bytes(b"no archive")
    judged = parts()
    told = "\n".join(judged["material"].misses)
    for words in ("no JSON", "no JSON object", "of no known form; it has what"):
        assert words in told
    for words in ("cut.jsonl.gz, after line", "none.jsonl.gz, after line 0"):
        assert words in told
    assert broken(judged) == []


def test_a_kind_whose_form_the_checker_no_longer_knows_is_missed(folder: Path) -> None:
    """What is left out is told, and may not be all of a kind: the checker would be blind."""
    known = redriven.KINDS["react-fever"]
    laid(folder, [json.dumps({**one, "max_steps": "seven"}) for one in known])
    (line,) = missed(parts(("material",)))
    assert "react-fever, of the form that is known: 0.0000 (0) of 7" in line


@pytest.mark.slow
def test_a_part_that_breaks_hides_no_other(folder: Path) -> None:
    """The tool index is no list: nothing of the multi-turn runs can be judged; all else is."""
    laid(folder, [json.dumps(one) for one in every()])
    (folder / "bfcl-multiturn-tools.json").write_text("3", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "recordings", "--print", "--parts", ",".join(SHAPED)],
        capture_output=True, text=True, check=False, cwd=ROOT / "lab",
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    headings = [line for line in done.stdout.splitlines() if line.startswith("## ")]
    assert len(headings) == 1 + len(SHAPED) + 2
    assert (headings[0], headings[-1]) == ("## Findings", "## Single cases")
    assert "(not judged)" in done.stdout
    assert done.returncode == 1
    assert all("Stateful gold runs" in line for line in done.stderr.splitlines() if "miss" in line)


def test_a_kind_that_is_not_there_is_no_miss(folder: Path) -> None:
    laid(folder, [json.dumps(one) for one in redriven.KINDS["react-fever"]])
    judged = parts(("material", "text", "redrive", "native", "wire", "schemas", "stateful"))
    assert missed(judged) == []
    assert "Nothing to judge" in judged["wire"].text
