"""Repair common mistakes in patches before parsing; the record names each repair.

Most often these are the line counts in hunk headers, which are recomputed. The text of a line is
never changed.
"""

import re
from typing import Any, Final

from clew.interfaces import Json
from clew_code.workspace.patch import BEGIN, END
from clew_code.workspace.unified_diff import HEADER, is_file_header, is_signature

_FENCE: Final = re.compile(r"\s*```[a-z]*\n(.*?)\n?```\s*", re.DOTALL)
_HERE: Final = re.compile(r"\s*(?:apply_patch\s+)?<<\s*['\"]?(\w+)['\"]?\n(.*?)\n\1\s*", re.DOTALL)
_V4A: Final = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: ", re.MULTILINE)


def repair_patch(args: dict[str, Json]) -> tuple[dict[str, Json], str] | None:
    """The arguments of `apply_patch` with a repaired patch, and a list of the repairs.

    None if nothing was wrong, or it cannot be repaired without guessing.
    """
    patch: Any = args.get("patch")
    if not isinstance(patch, str):
        return None
    done: list[str] = []
    text = _unwrapped(patch, done)
    if text.lstrip().startswith("*** ") or _V4A.search(text):
        text = _framed(text, done)
    else:
        text = _counted(text.split("\n"), done)
    return ({**args, "patch": text}, "; ".join(dict.fromkeys(done))) if done else None


def _unwrapped(text: str, done: list[str]) -> str:
    for pattern, group, name in ((_FENCE, 1, "a code fence"), (_HERE, 2, "a here-document")):
        if match := pattern.fullmatch(text):
            done.append(f"{name} around the patch was taken off")
            text = match[group]
    return text


def _framed(text: str, done: list[str]) -> str:
    """V4A with its first and last line, and prefixes on empty lines."""
    lines = text.strip("\r\n").split("\n")
    if lines[0].strip() != BEGIN:
        lines.insert(0, BEGIN)
        done.append("the first line of the patch was added")
    if lines[-1].strip() != END:
        lines.append(END)
        done.append("the last line of the patch was added")
    kept = [_blank(line, lines[index + 1], "+" if _added(lines, index) else " ")
            for index, line in enumerate(lines[:-1])]  # fmt: skip
    if kept != lines[:-1]:
        done.append("empty lines got the sign that they lacked")
    return "\n".join([*kept, lines[-1]])


def _blank(line: str, following: str, sign: str) -> str:
    """The prefix of an empty line; between two files it has none."""
    return sign + line if not line.rstrip("\r") and not following.startswith("*** ") else line


def _added(lines: list[str], index: int) -> bool:
    """Whether a line is below the header of an added file."""
    above = (line for line in reversed(lines[:index]) if line.startswith("*** "))
    return next(above, "").startswith("*** Add File: ")


def _counted(lines: list[str], done: list[str]) -> str:
    """A unified diff with recomputed line counts."""
    counted: list[str] = []
    at = 0
    while at < len(lines):
        counted.append(lines[at])
        at += 1
        if not counted[-1].startswith("@@"):
            continue
        header = len(counted) - 1
        body, at = _body(lines, at)
        kept = [line if line.rstrip("\r") else f" {line}" for line in body]
        if kept != body:
            done.append("empty lines got the sign that they lacked")
        counted += kept
        right = _header(counted[header], kept)
        if right != counted[header]:
            done.append("headers of hunks were counted anew")
        counted[header] = right
    return "\n".join(counted)


def _body(lines: list[str], at: int) -> tuple[list[str], int]:
    """The lines of a hunk, up to the next header, without trailing empty lines."""
    start = at
    while at < len(lines) and not _ends(lines, at):
        at += 1
    end = at
    while end > start and not lines[end - 1].rstrip("\r"):
        end -= 1
    return lines[start:end], at


def _ends(lines: list[str], at: int) -> bool:
    line = lines[at]
    if line.startswith(("@@", "diff --git ", "index ", "Index: ")) or is_file_header(lines, at):
        return True
    if is_signature(lines, at):
        return True
    return bool(line.rstrip("\r")) and line[0] not in " -+\\"


def _header(line: str, body: list[str]) -> str:
    """The header of a hunk with these lines; its start is left unchanged."""
    signs = [one[0] for one in body]
    old, new = (sum(sign in kept for sign in signs) for kept in (" -", " +"))
    header = HEADER.match(line.rstrip("\r"))
    if header is not None and [int(header[group] or "1") for group in (2, 4)] == [old, new]:
        return line
    first = (header[1], header[3]) if header else ("1", "1")
    rest = header[5] if header else ""
    return f"@@ -{first[0]},{old} +{first[1]},{new} @@{rest}"
