"""From a TOML file to a `Spec`; what is wrong is told with its line."""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast, get_args, get_origin

import msgspec

from clew.agent_files.spec import SCREENS, Spec, WorkspaceTable
from clew.agent_files.strategy_table import StrategyTable
from clew.agent_files.toml_positions import line_of
from clew.models.prices import check_own, unprefixed
from clew.stores import has_password, scheme_of
from clew.support.errors import ConfigError
from clew.support.nearest_name import did_you_mean

_UNKNOWN: Final = re.compile(r"unknown field `([^`]*)`")
_MISSING: Final = re.compile(r"missing required field `([^`]*)`")
_CHOICE: Final = re.compile(r"Invalid enum value '([^']*)'")
_AT: Final = re.compile(r" - at `(?:key in )?\$([^`]*)`")
_STEP: Final = re.compile(r"\.(\w+)|\[(\d+)\]")
_FREE: Final = re.compile(r"got `(\w+)` - at `[^`]*?\[\.\.\.\](?:\.(\w+))?`")
"""What stands under a key that msgspec does not name."""

_TOLD: Final = re.compile(r"\(at line (\d+), column \d+\)|\(at end of document\)")


def described(spec: Spec, path: tuple[str | int, ...]) -> str | None:
    """File and line of a part; None where something else said it, or the file has changed since."""
    if not spec.file or not path:
        return spec.file or None
    try:
        now, text = read_agent_file(spec.file), _text(Path(spec.file))
    except (ConfigError, OSError, UnicodeDecodeError):
        return None
    before, says = (repr(getattr(one, str(path[0]))) for one in (spec, now))  # nan is no other nan
    return f"{spec.file}, line {line_of(text, path)}" if before == says else None


def _text(file: Path) -> str:
    """The file's text, without the mark that some editors put at its beginning."""
    return file.read_text("utf-8-sig")


def read_agent_file(path: str | Path) -> Spec:
    """Read an agent file. Raises `ConfigError` with the file and the line.

    Relative paths and modules in it are looked up in its folder first.
    """
    file = Path(path).expanduser().absolute()
    text, document = read_toml(file, f"the agent file {path}", "`clew init` writes one")
    try:
        if "file" in document:  # is known here, but not for a file to say
            raise msgspec.ValidationError("Object contains unknown field `file`")
        spec = msgspec.convert(document, Spec)
    except msgspec.ValidationError as error:
        where, why = misfit(error)
        if free := _FREE.search(str(error)):
            where = _key_of_kind(document, where, free[1], free[2] or "")
        message = f"{file}, line {line_of(text, where)}: {why}"
        raise ConfigError(message, placed=True) from error
    _check_prices(spec, f"{file}, line {line_of(text, ('prices', *list(spec.prices)[:1]))}")
    return with_absolute_paths(spec, file, screened="screens" in document)


def _check_prices(spec: Spec, where: str) -> None:
    """Raise `ConfigError` where none of the prices is that of a model that the file names."""
    if ":" not in spec.model:  # one that is chosen later, or the rules, which have no price
        return
    named = [spec.model, spec.parser, "" if spec.rewinds is None else spec.rewinds.critic]
    named += [] if spec.screening is None else [spec.screening.model]
    models = [unprefixed(each)[1] for each in named if ":" in each]
    try:
        check_own(models, spec.prices)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}", placed=True) from error


def read_toml(file: Path, what: str, advice: str) -> tuple[str, dict[str, Any]]:
    """The text of a TOML file and what it says; `what` and `advice` are for where there is none.

    Raises `ConfigError` with the file and the line.
    """
    try:
        text = _text(file)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigError(f"{what} cannot be read ({why}): {advice}") from error
    try:
        return text, tomllib.loads(text)
    except RecursionError as error:
        raise ConfigError(f"{file} is nested too deeply: no setting needs that") from error
    except tomllib.TOMLDecodeError as error:
        at = _TOLD.search(str(error))
        line = int(at[1]) if at and at[1] else max(1, len(text.splitlines()))
        why = _TOLD.sub("", str(error)).strip()
        if why == "Invalid value":
            why += " (text stands in quotes)"
        message = f"{file}, line {line}: this is not TOML: {why}"
        raise ConfigError(message, placed=True) from error


def with_absolute_paths(spec: Spec, file: Path, *, screened: bool) -> Spec:
    """The spec of a file with its places made absolute: a record outlives the working folder.

    `screened` says whether the file names screens, were it none.
    """
    folder = file.parent

    def absolute(path: str) -> str:
        return str(folder / Path(path).expanduser()) if path else ""

    def inside(workspace: str | WorkspaceTable) -> str | WorkspaceTable:
        if isinstance(workspace, str):
            return absolute(workspace)
        readable = tuple(map(absolute, workspace.readable))
        return msgspec.structs.replace(workspace, root=absolute(workspace.root), readable=readable)

    screens = spec.screens if screened else SCREENS
    address = scheme_of(spec.store)
    if has_password(spec.store):
        advice = "leave it out, and set PGPASSWORD or write ~/.pgpass"
        raise ConfigError(f"{file}: store has a password in it: {advice}")
    store = spec.store if address or spec.store == "memory:" else absolute(spec.store)
    if spec.store.endswith("/") and not address:  # a folder, which no store is
        store += "/"
    programs = tuple(
        msgspec.structs.replace(each, cwd=absolute(each.cwd or ".")) for each in spec.programs
    )
    agents = tuple(msgspec.structs.replace(each, file=absolute(each.file)) for each in spec.agents)
    servers = tuple(
        msgspec.structs.replace(
            each,
            cwd=absolute(each.cwd or ".") if each.command else each.cwd,
            roots=tuple(map(absolute, each.roots)),
        )
        for each in spec.mcp
    )
    return msgspec.structs.replace(
        spec,
        docs=absolute(spec.docs),
        memory=absolute(spec.memory),
        workspace=inside(spec.workspace),
        screens=screens,
        store=store,
        programs=programs,
        agents=agents,
        mcp=servers,
        strategy=_placed(spec.strategy, absolute),
        file=str(file),
    )


def _placed(
    value: str | StrategyTable | None, absolute: Callable[[str], str]
) -> str | StrategyTable | None:
    """A strategy with the places of its agent files made absolute."""
    if not isinstance(value, StrategyTable):
        return value
    return msgspec.structs.replace(value, **{n: absolute(file) for n, file in value.files.items()})


def explained(error: str) -> str:
    """An explanation of why values do not fit a `Spec`; `error` is the message of msgspec."""
    return misfit(error)[1]


def misfit(error: object, root: Any = Spec) -> tuple[tuple[str | int, ...], str]:
    """Where a description does not fit, and why, in our own words.

    `error` is what msgspec says, `root` the type of the whole.
    """
    message = str(error)
    at = _AT.search(message)
    steps = _STEP.findall(at[1].partition("[...]")[0]) if at else []  # it names no free keys
    path = tuple(key or int(index) for key, index in steps)
    name = ".".join(map(str, path))
    if unknown := _UNKNOWN.search(message):
        known = _fields(root, path)
        tables = _types(_kind(root, path)).items()
        inside = [f"{key}.{unknown[1]}" for key, kind in tables if unknown[1] in _types(kind)]
        hint = did_you_mean(unknown[1], known, f"known are {', '.join(known)}")
        hint = f"did you mean {inside[0]}?" if inside else hint
        where = f" in {name}" if name else ""
        return (*path, unknown[1]), f"unknown key {unknown[1]!r}{where}: {hint}"
    if missing := _MISSING.search(message):
        return path, f"{name or 'the file'} lacks {missing[1]!r}: give it"
    if choice := _CHOICE.search(message):
        return path, f"{name}: {choice[1]!r} is none of {', '.join(_choices(root, path))}"
    why = _AT.sub("", message).replace("`", "").replace(" | null", "")  # TOML has no null
    return path, f"{name}: {why[:1].lower()}{why[1:]}"


def _fields(root: Any, path: tuple[str | int, ...]) -> list[str]:
    """The keys that a table may have."""
    return [name for name in _types(_kind(root, path)) if path or name != "file"]


def _choices(root: Any, path: tuple[str | int, ...]) -> list[str]:
    """The words that a value may be."""
    kind = _kind(root, path)
    inner = [kind, *get_args(kind)]
    words = [word for one in inner if get_origin(one) is Literal for word in get_args(one)]
    return [word for word in words if word]  # "" is what stands where the key does not


def _kind(root: Any, path: tuple[str | int, ...]) -> Any:
    """The type of what is at this place; None where there is nothing."""
    kind = root
    for key in path:
        if isinstance(key, str):
            kind = _types(kind).get(key)
    return kind


def _types(kind: Any) -> dict[str, Any]:
    """The keys of a table with their types; none where it is no table."""
    table = _struct(kind)
    return {} if table is None else {one.name: one.type for one in msgspec.structs.fields(table)}


def _struct(kind: Any) -> type[msgspec.Struct] | None:
    """The table in a type, or in what it is a list, a mapping or a choice of."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return kind
    inner = get_args(kind)
    return next(filter(None, map(_struct, inner)), None)


KeyPath: TypeAlias = tuple[str | int, ...]

_KINDS: Final[Mapping[str, type]] = {
    "str": str, "int": int, "float": float, "bool": bool, "array": list, "object": dict,
}  # fmt: skip
"""The types of values by msgspec's words for them."""


def _key_of_kind(document: Any, path: KeyPath, kind: str, last: str) -> KeyPath:
    """The path of the value of this kind in a table with free keys, called `last` if that is said.

    `kind` is msgspec's word for what it found.
    """
    for inner, value in _entries(_at(document, path)):
        if type(value) is _KINDS.get(kind) and (not last or inner[-1] == last):
            return (*path, *inner)
    return path


def _at(document: Any, path: KeyPath) -> Any:
    value = document
    for key in path:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _entries(table: Any) -> Iterator[tuple[KeyPath, Any]]:
    """All keys in a table and in the tables in it, with their values."""
    if isinstance(table, dict):
        for key, value in cast("dict[str, Any]", table).items():
            yield (key,), value
            for inner, deeper in _entries(value):
                yield (key, *inner), deeper
