"""Datasets: what is read, and that whatever is wrong is named with its line and reason."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.support.errors import ConfigError
from clew_evals.case import Case
from clew_evals.dataset import MAX_PROBLEMS, read_dataset

GOOD: dict[str, Any] = {"id": "a", "question": "How long is it?", "gold": "12 m"}


def written(folder: Path, *lines: object) -> Path:
    """A dataset of these lines: bytes and text as they are, others as JSON."""
    path = folder / "cases.jsonl"
    body = b"\n".join(
        line
        if isinstance(line, bytes)
        else line.encode()
        if isinstance(line, str)
        else msgspec.json.encode(line)
        for line in lines
    )
    path.write_bytes(body)
    return path


def test_a_dataset_is_read_with_all_that_a_case_may_have(tmp_path: Path) -> None:
    full = GOOD | {
        "id": "b",
        "gold": [{"contains": "12 m"}, {"calls": "calc"}],
        "category": "calculation",
        "tests": "a unit",
        "pair": "p",
        "extra": {"paragraphs": [["Title", ["A sentence."]]]},
    }
    twin = GOOD | {"id": "c", "pair": "p", "gold": 12}
    assert read_dataset(written(tmp_path, GOOD, full, twin)) == [
        Case("a", "How long is it?", "12 m"),
        msgspec.convert(full, Case),
        Case("c", "How long is it?", 12, pair="p"),
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_marks_line_ends_and_empty_lines_do_not_count(tmp_path: Path, end: str) -> None:
    line = msgspec.json.encode(GOOD | {"question": "A\u2028line\x85end of others?"}).decode()
    path = tmp_path / "cases.jsonl"
    path.write_bytes(f"\ufeff{end}{line}{end}  {end}".encode())
    assert [case.id for case in read_dataset(str(path))] == ["a"]


WRONG: list[tuple[object, str]] = [
    ('{"id": "a", "question": }', "this is no JSON: Expecting value (column 25)"),
    ('{"id": "a"', "this is no JSON: Expecting ',' delimiter (column 11)"),
    ("[1]", "a case is an object"),
    (b'{"id": "\xff"}', "byte 9 is not UTF-8"),
    ('{"id": "a", "id": "b"}', "the key 'id' stands twice"),
    ('{"id": "a", "gold": NaN}', "NaN is no JSON"),
    ('{"id": "a", "gold": 1e999}', "1e999 is too large"),
    ('{"id": "a", "gold": ' + "[" * 100_000 + "}", "this JSON cannot be kept"),
    (r'{"id": "a", "question": "\ud800", "gold": 1}', "this JSON cannot be kept"),
    (GOOD | {"qestion": "?"}, "unknown field 'qestion': did you mean question?"),
    (GOOD | {"zzz": "?"}, "unknown field 'zzz': what is your own goes into 'extra'"),
    ({"id": "a"}, "question and gold missing: give them"),
    (GOOD | {"gold": None}, "gold missing: give it"),
    (GOOD | {"id": ""}, "id missing"),
    (GOOD | {"id": 7}, "id: expected str, got int"),
    (GOOD | {"extra": []}, "extra: expected object, got array"),
    (GOOD | {"question": " "}, "the question is empty"),
    (GOOD | {"id": "a\nb"}, "has space around it, or characters that nobody sees"),
    (GOOD | {"gold": " "}, "gold: exact: nothing cannot be told from no answer"),
    (GOOD | {"gold": True}, 'gold is true: for an answer of this value write {"exact": true}'),
    (GOOD | {"gold": []}, "gold is empty"),
    (GOOD | {"gold": {}}, "gold: an empty object says nothing"),
    (GOOD | {"gold": {"exct": "a"}}, "gold: there is no scorer 'exct': did you mean exact?"),
    (GOOD | {"gold": {"zzz": "a"}}, "there is no scorer 'zzz': known are exact, contains, number"),
    (GOOD | {"gold": ["a", {"any_of": ["b", None]}]}, "gold[1].any_of[1] is null"),
    (GOOD | {"gold": {"any_of": []}}, "gold.any_of is empty"),
    (GOOD | {"gold": {"any_of": "a"}}, "gold.any_of is not a list"),
    (GOOD | {"gold": {"exact": "a", "regex": "b"}}, "gold has 'exact' and 'regex'"),
    (GOOD | {"gold": {"tolerance": 0.1}}, "'tolerance' says nothing without 'number'"),
    (GOOD | {"gold": {"number": 1, "tolerence": 1}}, "did you mean tolerance?"),
    (GOOD | {"gold": {"number": "1"}}, "number: expected int | float, got str"),
    (GOOD | {"gold": {"number": 1, "tolerance": -1}}, "tolerance is -1: give 0 or more"),
    (GOOD | {"gold": {"number": 1, "unit": "furlongs"}}, "the unit 'furlongs' is not known"),
    (GOOD | {"gold": {"contains": "The"}}, "nothing is left of 'The'"),
    (GOOD | {"gold": {"em": "a."}}, "nothing is left of 'a.'"),
    (GOOD | {"gold": {"f1": "Rome", "min_score": 1.5}}, "1.5 is not above 0 and at most 1"),
    (GOOD | {"gold": {"regex": "("}}, "'(' is not a regular expression: missing )"),
    (GOOD | {"gold": {"regex": "a*"}}, "'a*' is found in an empty answer"),
    (GOOD | {"gold": {"schema": {"type": "strnig"}}}, "this is no JSON Schema"),
    (GOOD | {"gold": {"schema": {}}}, "an empty schema is met by every answer"),
    (GOOD | {"gold": {"grounded": False}}, 'write {"none_of": [{"grounded": true}]}'),
    (GOOD | {"gold": {"judge": " "}}, "say what the judge is to look at"),
    (GOOD | {"gold": {"judge": "polite", "min_grade": 6}}, "min_grade is 6: give 2 to 5"),
    (GOOD | {"gold": {"calls": ""}}, "calls: name a tool"),
    (GOOD | {"gold": {"reward": 2}}, "2 is not above 0 and at most 1"),
    (GOOD | {"gold": {"scorer": "nowhere:at_all"}}, "No module named 'nowhere'"),
    (GOOD | {"gold": {"scorer": "json:dmps"}}, "did you mean json:dumps?"),
    (GOOD | {"gold": {"scorer": "json:__name__"}}, "name a function"),
    (GOOD | {"gold": {"avoids": "send"}}, "gold only forbids"),
    (GOOD | {"gold": {"any_of": ["a", {"none_of": ["b"]}]}}, "gold only forbids"),
    (GOOD | {"pair": "p"}, "the pair 'p' has only this case: give it a twin"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "why"), WRONG, ids=[f"{index}: {why[:40]}" for index, (_, why) in enumerate(WRONG)]
)
def test_what_is_wrong_is_named_with_line_and_reason(
    tmp_path: Path, line: object, why: str
) -> None:
    path = written(tmp_path, "", GOOD | {"id": "first"}, line)
    with pytest.raises(ConfigError) as error:
        read_dataset(path)
    assert str(error.value).startswith(f"{path}:3: ")
    assert why in str(error.value)
    assert "\n" not in str(error.value)


def test_two_cases_with_one_id_name_both_lines(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD, GOOD | {"id": "b"}, GOOD)
    with pytest.raises(ConfigError, match=r":3: the id 'a' is that of line 1 too"):
        read_dataset(path)


def test_a_pair_written_in_two_ways_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD | {"pair": "arson"}, GOOD | {"id": "b", "pair": "arsen"})
    with pytest.raises(ConfigError, match=r":1: the pair 'arson' .* did you mean arsen\?"):
        read_dataset(path)


def test_all_lines_with_errors_are_told_in_their_order(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD, "{", GOOD, *["}"] * MAX_PROBLEMS)
    with pytest.raises(ConfigError) as error:
        read_dataset(path)
    assert str(error.value).startswith(f"{path}:2: this is no JSON")
    notes = error.value.__notes__
    assert notes[0].startswith(f"{path}:3: the id 'a'")
    assert notes[1].startswith(f"{path}:4: this is no JSON")
    assert notes[-1] == "and 2 more"


def test_no_file_and_no_case_are_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        read_dataset(tmp_path / "nothing.jsonl")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_dataset(tmp_path)
    with pytest.raises(ConfigError, match="has no case"):
        read_dataset(written(tmp_path, " ", ""))


@given(st.binary(max_size=80))
def test_whatever_a_file_holds_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, body: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_bytes(body)
    with pytest.raises(ConfigError):
        read_dataset(path)
