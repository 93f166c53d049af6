"""Writes into an agent file what a tool of an MCP server does; comments and order stay."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from clew import ConfigError
from clew.agent_files import read_agent_file
from clew.agent_files.spec import McpTable
from clew.agent_files.toml_positions import line_of
from clew.guards import Labels
from clew.interfaces import Effect, Json
from clew.support.schema_parts import keywords

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_HEADING: Final = re.compile(r"\s*\[")


def classify(
    file: str | Path,
    tool: str,
    effect: Effect,
    *,
    trusted: bool = False,
    labels: Labels | None = None,
) -> None:
    """Set effect and trust of `tool` (`SERVER_tool`) in an agent file, and its labels if given.

    Raises `ConfigError` where the file has no such server, or is written in a way that cannot be
    changed line by line: then it says what to write.
    """
    spec = read_agent_file(file)
    matching = [each for each in spec.mcp if tool.startswith(f"{each.name}_")]
    if not matching:
        known = ", ".join(f"{each.name}_…" for each in spec.mcp) or "none"
        message = f"{file} has no MCP server with a tool {tool}: its tools are {known}"
        raise ConfigError(message)
    server = max(matching, key=lambda each: len(each.name))
    name = tool.removeprefix(f"{server.name}_")
    effects = {**server.effects, name: effect}
    trust = [one for one in server.trusted if one != name] + [name] * trusted
    path = Path(file).expanduser()
    text = path.read_text("utf-8-sig")
    number = spec.mcp.index(server)
    new = _with_key(text, number, "effects", effects, wanted=True)
    new = _with_key(new, number, "trusted", trust, wanted=bool(trust or server.trusted))
    table = {} if labels is None else _unusual(labels)
    if tool in spec.labels and table:
        message = f"{file} has a table [labels.{tool}]: change it there, or take it out first"
        raise ConfigError(message)
    new = _with_table(new, f"labels.{_key(tool)}", table)
    fields: dict[str, Json] = {"effects": effects, "trusted": trust}
    _check(file, text, new, number, server, fields, {tool: table} if table else {})
    path.write_text(new, "utf-8")


def _unusual(labels: Labels) -> dict[str, Json]:
    """What labels say that is not as usual."""
    fields: dict[str, Json] = msgspec.json.decode(msgspec.json.encode(labels))
    return {key: each for key, each in fields.items() if each}


def _with_table(text: str, name: str, fields: Mapping[str, Json]) -> str:
    """The text with a further table at its end."""
    if not fields:
        return text
    lines = [f"{key} = {_toml(each)}" for key, each in fields.items()]
    return "\n".join([text.rstrip("\n"), "", f"[{name}]", *lines, ""])


def _with_key(text: str, number: int, key: str, value: Json, *, wanted: bool) -> str:
    """The text with the key of the table `mcp` with this number set to the value."""
    if not wanted:
        return text
    lines = text.split("\n")
    begin = line_of(text, ("mcp", number))  # the line after the heading, counted from 0
    end = next((at for at in range(begin, len(lines)) if _HEADING.match(lines[at])), len(lines))
    line = f"{key} = {_toml(value)}"
    written = re.compile(rf"(\s*){key}\s*=\s*[\[{{].*[\]}}]\s*(#.*)?$")
    for at in range(begin, end):
        if same := written.match(lines[at]):
            remark = f"  {same[2]}" if same[2] else ""
            lines[at] = f"{same[1]}{line}{remark}"
            return "\n".join(lines)
    named = next(at for at in range(begin, end) if re.match(r"\s*name\s*=", lines[at]))
    lines.insert(named + 1, line)
    return "\n".join(lines)


def _toml(value: Json) -> str:
    """A text, a list or a table on one line, as TOML writes it."""
    if isinstance(value, dict):
        pairs = keywords(value).items()
        inner = ", ".join(f"{_key(name)} = {_toml(one)}" for name, one in pairs)
        return f"{{ {inner} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, msgspec.convert(value, list[Any])))}]"
    return msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _toml(name)


def _check(
    file: str | Path,
    before: str,
    after: str,
    number: int,
    server: McpTable,
    fields: dict[str, Json],
    labels: Mapping[str, Json],
) -> None:
    """Raise unless the new text says what the old one said, and that."""
    wanted: dict[str, Any] = tomllib.loads(before)
    wanted["mcp"][number] |= {key: value for key, value in fields.items() if value}
    if labels:
        wanted["labels"] = {**wanted.get("labels", {}), **labels}
    if not fields["trusted"] and server.trusted:
        wanted["mcp"][number]["trusted"] = []
    try:
        done = tomllib.loads(after) == wanted
    except tomllib.TOMLDecodeError:
        done = False
    if not done:
        lines = "; ".join(f"{key} = {_toml(value)}" for key, value in fields.items() if value)
        message = (
            f"{file} is written in a way that cannot be changed line by line: write for the server "
            f"{server.name}: {lines}"
        )
        raise ConfigError(message)
