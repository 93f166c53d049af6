"""Gold read from a dataset, and whether an answer can be held against it.

A gold is a text (`exact`), a number (`number`), an object with the name of its form, or a list of
golds that must all be met.
"""

import inspect
import math
import re
from collections.abc import Callable
from functools import partial
from typing import Any, Final, cast

import msgspec

from clew import ConfigError
from clew.agent_files.imports import imported_function
from clew.evidence import normalised
from clew.interfaces import Json
from clew.support.nearest_name import did_you_mean
from clew.tools.schema import compile_schema
from clew_evals.expected_types import (
    COMBINED,
    F1,
    FORMS,
    AllOf,
    AnyOf,
    Avoids,
    ByJudge,
    Contains,
    Declines,
    Exact,
    ExactMatch,
    Gold,
    GroundedAnswer,
    Leaf,
    NoneOf,
    NumberWithin,
    Regex,
    Reward,
    Schema,
    Scored,
    ToolCalled,
    inner,
    leaves,
    name_of,
    unit_of,
)
from clew_evals.texts import normal

MAX_DEPTH: Final = 20
"""So many golds may stand inside each other."""


# ------------------------------------------------------------------------------------- reading


def read_gold(gold: Json) -> tuple[Gold, ...]:
    """The golds of a case, all of which must be met. Raises `ConfigError` for what is none."""
    if isinstance(gold, list):
        return _several(msgspec.convert(gold, list[Any]), "gold", 0)
    return (_read(gold, "gold", 0),)


def _several(golds: list[Any], where: str, deep: int) -> tuple[Gold, ...]:
    if not golds:
        raise ConfigError(f"{where} is empty: an answer could not be held against anything")
    if deep > MAX_DEPTH:
        raise ConfigError(f"{where}: more than {MAX_DEPTH} golds stand inside each other")
    return tuple(_read(each, f"{where}[{index}]", deep + 1) for index, each in enumerate(golds))


def _read(gold: Json, where: str, deep: int) -> Gold:
    match gold:
        case str():
            return Exact(gold)
        case None:
            raise ConfigError(f"{where} is null: say what is right")
        case bool():
            quoted = msgspec.json.encode(gold).decode()
            raise ConfigError(
                f'{where} is {quoted}: for an answer of this value write {{"exact": {quoted}}}'
            )
        case int() | float():
            return NumberWithin(gold)
        case list():
            return AllOf(_several(msgspec.convert(gold, list[Any]), where, deep))
        case dict():
            return _formed(cast("dict[str, Json]", gold), where, deep)
        case _:
            raise ConfigError(f"{where} is no JSON")


def _formed(gold: dict[str, Json], where: str, deep: int) -> Gold:
    """An object as the form whose key it has."""
    names = [name for name in gold if name in FORMS]
    if not names:
        raise ConfigError(f"{where}: {_unknown(gold)}")
    if len(names) > 1:
        told = " and ".join(map(repr, names))
        raise ConfigError(f"{where} has {told}: write each into an object of its own, in a list")
    (name,) = names
    form = FORMS[name]
    fields = form.__struct_fields__
    for key in gold:
        if key not in fields:
            hint = did_you_mean(key, fields, f"it takes {', '.join(fields)}")
            raise ConfigError(f"{where}: {name!r} takes no {key!r}: {hint}")
    if name in COMBINED:
        if not isinstance(gold[name], list):
            raise ConfigError(f"{where}.{name} is not a list: give it golds in [ ]")
        several = _several(msgspec.convert(gold[name], list[Any]), f"{where}.{name}", deep)
        return COMBINED[name](several)
    try:
        return msgspec.convert(gold, form)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{where}: {_error_text(error)}") from error


def _unknown(gold: dict[str, Json]) -> str:
    """What to say of an object that names no form."""
    if not gold:
        return "an empty object says nothing"
    for key in gold:
        for name, form in FORMS.items():
            if key in form.__struct_fields__:
                return f"{key!r} says nothing without {name!r}"
    named = next(iter(gold))
    hint = did_you_mean(named, FORMS, f"known are {', '.join(FORMS)}")
    return f"there is no scorer {named!r}: {hint}"


def _error_text(error: msgspec.ValidationError) -> str:
    """What msgspec says, with the place first."""
    why, _, path = str(error).replace("`", "").partition(" - at $.")
    return f"{path or 'value'}: {why[:1].lower()}{why[1:]}"


# ------------------------------------------------------------------------------------ checking


def check_gold(gold: Json, folder: str = "") -> None:
    """Raise `ConfigError` with place and reason if no answer could be compared with the gold.

    Modules of scorers are looked up in `folder` first.
    """
    golds = read_gold(gold)
    for each in golds:
        for leaf in leaves(each):
            if why := _wrong(leaf, folder):
                raise ConfigError(f"gold: {name_of(leaf)}: {why}")
    if not any(map(_demands, golds)):
        message = (
            "gold only forbids, and a run without an answer would meet it: say beside it what "
            'must be, if only {"regex": "."}'
        )
        raise ConfigError(message)


def needs_judge(gold: Json) -> bool:
    """Whether a judge is asked for. Raises `ConfigError` for what is no gold."""
    return any(isinstance(leaf, ByJudge) for each in read_gold(gold) for leaf in leaves(each))


def needs_reward(gold: Json) -> bool:
    """Whether the world is to give a reward. Raises `ConfigError` for what is no gold."""
    return any(isinstance(leaf, Reward) for each in read_gold(gold) for leaf in leaves(each))


def tools_of(gold: Json) -> list[str]:
    """The tools that it names. Raises `ConfigError` for what is no gold."""
    names: list[str] = []
    for each in read_gold(gold):
        for leaf in leaves(each):
            match leaf:
                case ToolCalled(calls=name) | Avoids(avoids=name):
                    names.append(name)
                case _:
                    pass
    return names


def texts_of(gold: Json) -> tuple[str, ...]:
    """The texts that are right answers by themselves, for EM and F1; none where there are none."""
    texts: list[str] = []
    golds = read_gold(gold)
    for each in golds:
        for one in inner(each) if isinstance(each, AnyOf) else (each,):
            match one:
                case Exact(exact=str() as text) | ExactMatch(em=text) | F1(f1=text):
                    texts.append(text)
                case _:
                    pass
    return tuple(dict.fromkeys(texts))


def _demands(gold: Gold) -> bool:
    """Whether the gold asks for something to be there, not only for something not to be."""
    match gold:
        case AnyOf(any_of=several):
            return all(map(_demands, several))
        case AllOf(all_of=several):
            return any(map(_demands, several))
        case NoneOf() | Avoids():
            return False
        case _:
            return True


def _wrong(leaf: Leaf, folder: str) -> str:
    """Why no answer could be held against it, or all would meet it; empty where it is fine."""
    match leaf:
        case Exact() | Contains() | ExactMatch() | Regex():
            why = _wrong_text(leaf)
        case F1():
            why = _wrong_text(leaf) or _wrong_share(leaf.min_score)
        case NumberWithin():
            why = _wrong_number(leaf)
        case Schema():
            why = _wrong_schema(leaf.schema)
        case GroundedAnswer(grounded=flag) | Declines(declines=flag):
            name = name_of(leaf)
            why = "" if flag else f'false: write {{"none_of": [{{"{name}": true}}]}}'
        case ByJudge():
            why = _wrong_judge(leaf)
        case ToolCalled(calls=name) | Avoids(avoids=name):
            why = "" if name.strip() else "name a tool"
        case Reward():
            why = _wrong_share(leaf.reward)
        case Scored():
            why = _wrong_share(leaf.min_score) or _wrong_scorer(leaf.scorer, folder)
    return why


def _wrong_text(leaf: Exact | Contains | ExactMatch | F1 | Regex) -> str:
    match leaf:
        case Exact(exact=value):
            empty = value is None or (isinstance(value, str) and not value.strip())
            return "nothing cannot be told from no answer: use declines" if empty else ""
        case Contains(contains=text):
            left = normalised(text)
        case ExactMatch(em=text) | F1(f1=text):
            left = normal(text)
        case Regex():
            return _wrong_pattern(leaf.regex)
    return "" if left else f"nothing is left of {text!r} but articles and punctuation"


def _why(made: Callable[[], object]) -> str:
    try:
        made()
    except ConfigError as error:
        return str(error)
    return ""


def _wrong_scorer(name: str, folder: str) -> str:
    try:
        function = imported_function(name, "scorer", folder)
    except ConfigError as error:
        return str(error)
    if not any(map(inspect.iscoroutinefunction, (function, type(function).__call__))):
        return f"{name} is not an async function: write it with async def"
    try:
        inspect.signature(function).bind(None)
    except TypeError as error:
        why = "it takes none" if not inspect.signature(function).parameters else str(error)
        return f"{name} is given one record, and that does not fit: {why}"
    return ""


def _wrong_share(min_score: float) -> str:
    return "" if 0 < min_score <= 1 else f"{min_score:g} is not above 0 and at most 1"


def _wrong_number(leaf: NumberWithin) -> str:
    if not math.isfinite(leaf.number):
        return "it is not finite"
    for name in ("tolerance", "relative"):
        if not 0 <= (value := getattr(leaf, name)) < math.inf:
            return f"{name} is {value:g}: give 0 or more"
    if leaf.unit and not unit_of(leaf.unit):
        known = "write it as in km, kg, min, °C, %, USD, or leave it out and any will do"
        return f"the unit {leaf.unit!r} is not known: {known}"
    return ""


def _wrong_pattern(pattern: str) -> str:
    try:
        matches_empty = re.search(pattern, "")
    except (re.error, RecursionError, OverflowError) as error:
        return f"{pattern!r} is not a regular expression: {error}"
    if matches_empty is not None:
        return f"{pattern!r} is found in an empty answer: forbid words with none_of"
    return ""


def _wrong_schema(schema: dict[str, Json]) -> str:
    if why := _why(partial(compile_schema, schema)):
        return why
    return "" if schema else "an empty schema is met by every answer"


def _wrong_judge(leaf: ByJudge) -> str:
    if not leaf.judge.strip():
        return "say what the judge is to look at"
    if leaf.min_grade is not None and not 2 <= leaf.min_grade <= 5:
        return f"min_grade is {leaf.min_grade}: give 2 to 5"
    return ""
