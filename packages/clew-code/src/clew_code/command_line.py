"""A command-line program as a tool: an argument list, never a shell.

Agent files make them of `[[programs]]`.
"""

import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import Formatter
from typing import Final

from clew import ConfigError, Observation, Tool
from clew.interfaces import EFFECTFUL, Effect, Json, Parameters
from clew.support.errors import ToolError
from clew.support.json_values import text_or_json
from clew.tools import Attempts
from clew.tools.run_process import SLACK, Ran, check_variables, environment, run_process
from clew.tools.schema import checked

RESULT: Final[Parameters] = {
    "type": "object",
    "properties": {
        "exit_code": {"type": "integer"},
        "stdout": {"type": "string"},
        "stderr": {"type": "string"},
    },
    "required": ["exit_code", "stdout", "stderr"],
    "additionalProperties": False,
}

_SHELLS: Final = frozenset(
    {"sh", "bash", "dash", "zsh", "ksh", "fish", "csh", "tcsh", "cmd.exe", "powershell.exe", "pwsh"}
)
_SCALARS: Final = frozenset({"string", "integer", "number", "boolean"})


def program(
    name: str,
    argv: Sequence[str],
    description: str,
    *,
    parameters: Mapping[str, Parameters] | None = None,
    dashes: Collection[str] = (),
    effect: Effect = "unsafe",
    timeout: float = 30.0,
    cwd: str | Path | None = None,
    env: Collection[str] = (),
    limit: int = 50_000,
) -> Tool:
    """Make a tool of a program: `program("log", ("git", "log", "-n", "{count}"), "…")`.

    `{name}` in an element of `argv` is filled by the parameter of that name and stays within its
    element (`{{` and `}}` are braces). `parameters` gives their schemas (text where none is given;
    with a `default` a parameter may be left out). A value that begins with "-" is refused where it
    would begin its element, unless the parameter is among `dashes` or a literal "--" comes before.
    The program is looked up now and gets only the variables of `running.ENVIRONMENT` and those
    named in `env`. The result is `{exit_code, stdout, stderr}`, whatever the exit code; of each
    stream the first and last half of `limit` bytes are kept, and bytes that are no UTF-8 become
    U+FFFD. At the deadline its process group is ended, and what it wrote so far is shown.
    (`Attempts.timeout` is a few seconds more.) Raises `ConfigError` where something does not fit.
    """
    if not argv:
        message = f"program {name}: argv is empty; its first element is the program"
        raise ConfigError(message, field="argv")
    elements = [_element(name, text) for text in argv[1:]]
    properties = _properties(name, elements, parameters or {})
    schema: Parameters = {
        "type": "object",
        "properties": properties,
        "required": [one for one, kind in properties.items() if "default" not in kind],
        "additionalProperties": False,
    }
    call = _ProgramCall(
        name=name,
        executable=_executable(name, argv[0]),
        elements=elements,
        guarded=_guarded(argv, elements, dashes),
        defaults={one: kind["default"] for one, kind in properties.items() if "default" in kind},
        effect=effect,
        seconds=timeout,
        cwd=_directory(name, cwd),
        variables=check_variables(env),
        limit=limit,
    )
    made = checked(Tool(name, description, schema, call, effect=effect, attempts=Attempts(timeout)))
    return replace(made, result=RESULT, attempts=Attempts(timeout + SLACK))


@dataclass(frozen=True, slots=True)
class _ProgramCall:
    """All that a call of a program needs."""

    name: str
    executable: str
    elements: Sequence["Element"]
    guarded: Sequence[str]
    defaults: Mapping[str, Json]
    effect: Effect
    seconds: float
    cwd: str | None
    variables: Sequence[str]
    limit: int

    async def __call__(self, args: dict[str, Json], _key: str) -> Json:
        filled = _fill(self.name, self.elements, {**self.defaults, **args}, self.guarded)
        try:
            ran = await run_process(
                [self.executable, *filled],
                seconds=self.seconds,
                limit=self.limit,
                cwd=self.cwd,
                env=environment(self.variables),
            )
        except (OSError, ValueError) as error:
            message = f"{self.name} could not be started: {error}"
            raise ToolError(message) from error
        late = ran.code is None
        return _late(self.name, self.effect, self.seconds, ran) if late else _output(ran)


@dataclass(frozen=True, slots=True)
class Element:
    """An element of an argument list: (literal, parameter or "") pairs, in order."""

    pieces: tuple[tuple[str, str], ...]

    @property
    def names(self) -> list[str]:
        """The parameters in it."""
        return [name for _, name in self.pieces if name]

    @property
    def first(self) -> str:
        """The parameter it begins with, or ""."""
        literal, name = self.pieces[0] if self.pieces else ("", "")
        return "" if literal else name

    def fill(self, text: Callable[[str], str]) -> str:
        """The element with its parameters filled."""
        return "".join(literal + (text(name) if name else "") for literal, name in self.pieces)


def _executable(tool: str, word: str) -> str:
    """The program's absolute path. Raises `ConfigError` where there is none, and for shells."""
    if Path(word).name.casefold() in _SHELLS:
        message = f"program {tool}: {word} is a shell; name the program itself and its arguments"
        raise ConfigError(message, field="argv")
    if (path := shutil.which(word)) is None:
        message = f"program {tool}: there is no program {word!r} here; install it or give its path"
        raise ConfigError(message, field="argv")
    return str(Path(path).absolute())


def _element(tool: str, text: str) -> Element:
    try:
        parsed = list(Formatter().parse(text))
    except ValueError as error:
        message = f"program {tool}: {text!r}: {error}; write {{{{ and }}}} for braces"
        raise ConfigError(message, field="argv") from error
    for _, name, form, conversion in parsed:
        if name is not None and (not name.isidentifier() or form or conversion):
            message = f"program {tool}: {text!r}: write only a parameter's name between braces"
            raise ConfigError(message, field="argv")
    return Element(tuple((literal, name or "") for literal, name, _, _ in parsed))


def _properties(
    tool: str, elements: Sequence[Element], parameters: Mapping[str, Parameters]
) -> dict[str, Parameters]:
    names = list(dict.fromkeys(name for element in elements for name in element.names))
    if unused := [name for name in parameters if name not in names]:
        message = f"program {tool}: no element of argv uses {', '.join(unused)}"
        raise ConfigError(message)
    properties = {name: dict(parameters.get(name, {"type": "string"})) for name in names}
    for name, schema in properties.items():
        if schema.get("type") not in _SCALARS:
            message = (
                f'program {tool}, parameter {name}: give its schema a "type" of string, integer, '
                "number or boolean: a value fills one element"
            )
            raise ConfigError(message)
    return properties


def _directory(tool: str, cwd: str | Path | None) -> str | None:
    if cwd is not None and not Path(cwd).is_dir():
        message = f"program {tool}: there is no folder {cwd}"
        raise ConfigError(message, field="cwd")
    return None if cwd is None else str(Path(cwd).absolute())


def _guarded(
    argv: Sequence[str], elements: Sequence[Element], dashes: Collection[str]
) -> list[str]:
    """For each element the parameter whose value must not begin with a dash, or ""."""
    after = list(argv[1:]).index("--") if "--" in argv[1:] else len(elements)
    return [
        element.first if index < after and element.first not in dashes else ""
        for index, element in enumerate(elements)
    ]


def _fill(
    tool: str, elements: Sequence[Element], values: Mapping[str, Json], guarded: Sequence[str]
) -> list[str]:
    def text(name: str) -> str:
        value = values[name]
        return text_or_json(value)

    filled = [element.fill(text) for element in elements]
    for word, name in zip(filled, guarded, strict=True):
        if name and word.startswith("-"):
            message = f"{tool}: {name}: {word!r} begins with '-' and would be read as an option"
            raise ToolError(message)
        if "\0" in word:
            message = f"{tool}: an argument holds a NUL character, which no program can be given"
            raise ToolError(message)
    return filled


def _text(output: bytes) -> str:
    return output.decode(errors="replace")


def _output(ran: Ran) -> Json:
    return {"exit_code": ran.code, "stdout": _text(ran.stdout), "stderr": _text(ran.stderr)}


def _late(tool: str, effect: Effect, seconds: float, ran: Ran) -> Observation:
    effectful = effect in EFFECTFUL
    doubt = "; part of its work may be done: check that before anything else" if effectful else ""
    output = "\n".join(filter(None, (_text(ran.stdout), _text(ran.stderr)))) or "nothing"
    return Observation(
        content=(
            f"ERROR: timeout: {tool} did not end in {seconds:g} s and was stopped{doubt}. "
            f"It had written: {output}"
        ),
        ok=False,
        code="timeout",
        outcome="unknown" if effectful else "not_done",
    )


__all__ = ["program"]
