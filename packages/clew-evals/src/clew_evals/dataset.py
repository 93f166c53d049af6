"""A dataset: a file with one case a line, read whole and checked before anything is spent."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Never, cast

import msgspec

from clew import ConfigError
from clew.interfaces import Json
from clew.support.nearest_name import did_you_mean
from clew.toolbox import attach
from clew_evals.case import Case
from clew_evals.expected import check_gold

MAX_PROBLEMS: Final = 20
"""So many lines with errors are named at once."""


class _Wrong(ValueError):  # noqa: N818 - it stays in this module: why a line is no case
    """What is wrong with a line."""


def read_dataset(path: str | Path) -> list[Case]:
    """The cases of a file of JSON lines (UTF-8; empty lines are ignored).

    Raises `ConfigError` with path, line and reason of the first error; the others are its notes.
    Modules of scorers are looked up in the file's folder first.
    """
    file = Path(path).expanduser()
    try:
        body = file.read_bytes()
    except OSError as error:
        message = f"the dataset {path} cannot be read ({error.strerror}): give a file of JSON lines"
        raise ConfigError(message) from error
    cases: list[tuple[int, Case]] = []
    wrong: list[tuple[int, str]] = []
    for number, line in enumerate(body.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if line.strip():
            try:
                cases.append((number, _case(line, str(file.absolute().parent))))
            except (_Wrong, ConfigError) as error:
                wrong.append((number, str(error)))
    wrong += _repeated_ids(cases)
    if not wrong:
        wrong += _alone(cases)
    if not cases and not wrong:
        raise ConfigError(f"{path} has no case: write one a line, as JSON")
    if wrong:
        raise _dataset_error(path, sorted(wrong))
    return [case for _, case in cases]


def _dataset_error(path: str | Path, wrong: list[tuple[int, str]]) -> ConfigError:
    """One error for all lines: the first, and the others as its notes."""
    lines = [f"{path}:{number}: {why}" for number, why in wrong]
    error = ConfigError(lines[0], placed=True)
    for line in lines[1:MAX_PROBLEMS]:
        error.add_note(line)
    if len(lines) > MAX_PROBLEMS:
        error.add_note(f"and {len(lines) - MAX_PROBLEMS} more")
    return error


def _repeated_ids(cases: list[tuple[int, Case]]) -> Iterator[tuple[int, str]]:
    first: dict[str, int] = {}
    for number, case in cases:
        if (before := first.setdefault(case.id, number)) != number:
            yield number, f"the id {case.id!r} is that of line {before} too: change one"


def _alone(cases: list[tuple[int, Case]]) -> Iterator[tuple[int, str]]:
    """Pairs of one: perhaps a name is written in two ways."""
    members: dict[str, list[int]] = {}
    for number, case in cases:
        if case.pair:
            members.setdefault(case.pair, []).append(number)
    for pair, numbers in members.items():
        if len(numbers) == 1:
            others = [other for other in members if other != pair]
            hint = did_you_mean(pair, others, "give it a twin, or leave the pair out")
            yield numbers[0], f"the pair {pair!r} has only this case: {hint}"


# ------------------------------------------------------------------------------------- a line


def _case(line: bytes, folder: str) -> Case:
    """The case of a line. Raises `_Wrong` or `ConfigError` with the reason."""
    case_fields = _object(line)
    fields = Case.__struct_fields__
    for key in case_fields:
        if key not in fields:
            hint = did_you_mean(key, fields, "what is your own goes into 'extra'")
            raise _Wrong(f"unknown field {key!r}: {hint}")
    if missing := [
        name for name in ("id", "question", "gold") if case_fields.get(name) in (None, "")
    ]:
        raise _Wrong(
            f"{' and '.join(missing)} missing: give {'it' if len(missing) == 1 else 'them'}"
        )
    try:
        case = msgspec.convert(case_fields, Case)
    except msgspec.ValidationError as error:
        why, _, where = str(error).replace("`", "").partition(" - at $.")
        raise _Wrong(f"{where or 'line'}: {why[:1].lower()}{why[1:]}") from error
    if not case.question.strip():
        raise _Wrong("the question is empty: say what is asked")
    if case.id != case.id.strip() or not case.id.isprintable():
        raise _Wrong(f"the id {case.id!r} has space around it, or characters that nobody sees")
    check_gold(case.gold, folder)
    for name in case.attachments:
        attach(name, folder=folder)
    return case


def _object(line: bytes) -> dict[str, Json]:
    """The JSON object of a line, read more strictly than usual: no key twice, no NaN."""
    try:
        text = line.decode().strip()
    except UnicodeDecodeError as error:
        raise _Wrong(f"byte {error.start + 1} is not UTF-8: save the file as UTF-8") from error
    try:
        decoded_value: object = json.loads(
            text, object_pairs_hook=_once, parse_constant=_no_number, parse_float=_finite
        )
        msgspec.json.encode(decoded_value)
    except json.JSONDecodeError as error:
        raise _Wrong(f"this is no JSON: {error.msg} (column {error.colno})") from error
    except _Wrong:
        raise
    except (ValueError, OverflowError, RecursionError) as error:  # too deep, too large, surrogates
        raise _Wrong(f"this JSON cannot be kept: {error}") from error
    if not isinstance(decoded_value, dict):
        raise _Wrong("a case is an object: write it in { }")
    return cast("dict[str, Json]", decoded_value)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Json]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _Wrong(f"the key {twice!r} stands twice in one object: leave one out")
    return fields


def _no_number(name: str) -> Never:
    raise _Wrong(f"{name} is no JSON: give a number, or leave it out")


def _finite(digits: str) -> float:
    if math.isinf(number := float(digits)):
        raise _Wrong(f"{digits} is too large for a number here")
    return number
