"""How every part that is a user's own is called: whatever it does becomes one error that names it.

Tools and probes are apart: what they do wrong is an observation.
"""

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, Final, NamedTuple, TypeVar, cast

from clew.concurrency.tasks import run_with_deadline
from clew.support.error_text import described, writable
from clew.support.errors import ConfigError, ModelError, PartError, StoreError
from clew.support.json_values import Json
from clew.support.nearest_name import did_you_mean
from clew.support.short_text import one_line
from clew.support.street import SHIPPED, is_shipped

P = TypeVar("P")

_RECORDED_IN: Final = {"clew.context.variants": "clew.prompts.variants"}
"""Where a function that ships stood when records first named it: its name stays what it was."""

PASSED: Final = (ConfigError, ModelError, StoreError, PartError, KeyboardInterrupt)
"""What a part may raise as it is; a real Ctrl-C is nobody's fault."""


class Patience(NamedTuple):
    """How long parts may take: seconds to their deadline (a limit), and then to let go."""

    seconds: float
    grace: float
    limit: str = "part_seconds"


def broken(what: str, error: BaseException) -> PartError:
    """The error that says which part failed, and how."""
    message = f"{what} failed: {described(error)}{_known_words(error)}"
    return PartError(f"{message}; mend it and resume the run")


def _known_words(error: BaseException) -> str:
    """Which attributes one of clew's own objects has, where a part asks for another.

    A part that was written for another version of clew learns the words of this one.
    """
    if not isinstance(error, AttributeError) or not error.name:
        return ""
    kind = type(error.obj)
    if not is_shipped(kind):
        return ""
    known = [name for name in dir(error.obj) if not name.startswith("_")]
    hint = did_you_mean(error.name, known, "")
    return f"{hint and f', {hint}'} ({kind.__name__} has {', '.join(known)})"


def wrong(what: str, value: object, wanted: str) -> PartError:
    """The error that says which part gave something else than it should have."""
    return PartError(f"{what} gave {short_repr(value)}: it must give {wanted}; mend it and resume")


def of_kind(what: str, value: object, kind: type[P], wanted: str) -> P:
    """The value, if the part gave what it must. Raises `PartError` where it did not."""
    if not isinstance(value, kind):
        raise wrong(what, value, wanted)
    return value


def text_from(what: str, value: object, wanted: str) -> str:
    """The text that a part gave, as a plain one. Raises `PartError` where it is none."""
    try:
        return str.encode(of_kind(what, value, str, wanted)).decode()
    except UnicodeEncodeError as error:
        message = f"{what} gave a text that holds half a character: mend it and resume the run"
        raise PartError(message) from error


def shaped_text(shape: Callable[[str], str], text: str) -> str:
    """What a shape makes of the text of an observation."""
    with using(who := f"the shape {stable_name(shape)}"):
        seen = shape(text)
    return text_from(who, seen, "a text")


def short_repr(value: object, max_chars: int = 60) -> str:
    """A value in a line, whatever its `repr` does."""
    try:
        name = getattr(value, "__qualname__", None)
        text = one_line(name if isinstance(name, str) else repr(value), max_chars)
    except BaseException as error:  # noqa: BLE001 - it is a user's own code
        text = f"(its repr raises {type(error).__name__})"
    return f"{text} ({type(value).__name__})"


def text_of(value: object) -> str:
    """A value as text, whatever its `str` does."""
    try:
        return writable(str(value))
    except BaseException:  # noqa: BLE001 - it is a user's own code
        return short_repr(value)


_PLAIN: Final = SHIPPED | {"builtins", "decimal", "datetime", "pathlib", "enum", "re"}
"""Whose values are named by what they hold: clew's packages, and modules of Python's own."""

_SET: Final = re.compile(r"\{[^{}]*\}")


def stable_name(part: object) -> str:
    """A part as the record names it: a function by its full name, a value by its repr.

    What is of a user's own class is named with its module.
    """
    name = getattr(part, "__qualname__", None)
    if name is not None:
        module = getattr(part, "__module__", "")
        return f"{_RECORDED_IN.get(module, module)}.{name}"
    try:
        told = repr(part)
    except BaseException as error:
        message = f"a {type(part).__name__} cannot be named: its repr raises {described(error)}"
        raise ConfigError(message) from error
    if " at 0x" in told:
        message = f"{told} has another name in every process: use a function or a dataclass"
        raise ConfigError(message)
    told = _SET.sub(_in_order, told) if "{" in told else told
    where: str = type(part).__module__  # a user's own class may have the name of one of clew's
    return told if where.partition(".")[0] in _PLAIN else f"{where}.{told}"


def _in_order(match: re.Match[str]) -> str:
    """A set with its members in order: its own order is another in every process."""
    try:
        members: object = ast.literal_eval(match[0])
    except (ValueError, SyntaxError):
        return match[0]
    if not isinstance(members, set):
        return match[0]
    return f"{{{', '.join(sorted(map(repr, cast('set[object]', members))))}}}"


def name_of(part: object) -> str | None:
    """A part as the record names it; None where there is none."""
    return None if part is None else stable_name(part)


def differing(value: object, usual: object, names: Iterable[str]) -> dict[str, Any]:
    """Of these attributes, those that are not as usual."""
    pairs = ((name, getattr(value, name), getattr(usual, name)) for name in names)
    return {name: own for name, own, other in pairs if own != other}


def names_of(parts: Sequence[P]) -> tuple[tuple[str, P], ...]:
    """Each part with its name; a second of a name is `name#2`."""
    named: dict[str, P] = {}
    for part in parts:
        name, number = stable_name(part), 2
        while name in named:
            name, number = f"{stable_name(part)}#{number}", number + 1
        named[name] = part
    return tuple(named.items())


class using:  # noqa: N801 - it reads as a word of the `with` statement
    """`with using("the format x"):` whatever is raised inside is an error of that part."""

    __slots__ = ("what",)

    def __init__(self, what: str) -> None:
        self.what = what

    def __enter__(self) -> None:
        return

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None and not isinstance(error, PASSED):
            raise broken(self.what, error) from error


async def ask(what: str, patience: Patience, part: Callable[..., Any], *args: Any) -> Any:
    """What a part says: at once, or, where that has to be awaited, before its deadline."""
    with using(what):
        answer = part(*args)
        if not hasattr(answer, "__await__"):
            return answer
    ended = await run_with_deadline(answer, patience.seconds, patience.grace)
    if ended.late:
        how = "" if ended.responded else ", and ignored that it was stopped"
        message = (
            f"{what} gave no answer in {patience.seconds:g} s{how}: mend it, or raise the limit "
            f"{patience.limit}, and resume the run"
        )
        raise PartError(message)
    if ended.error is not None:
        with using(what):
            raise ended.error
    return ended.value


def copied(value: Json) -> Json:
    """The same JSON for a part that may change it."""
    if isinstance(value, dict):
        mapping = cast("dict[str, Json]", value)
        return {name: copied(each) for name, each in mapping.items()}
    if isinstance(value, list):
        return [copied(each) for each in cast("Sequence[Json]", value)]
    return value
