"""Parse unified diffs: those of `diff -u`, and of git with renames, copies, modes and quoted names.

Line numbers are ignored: lines are found by their text. These lines say nothing of the files and
are passed over: blank lines between files, `index`, `similarity index`, `diff -u …`, `Index:` with
its rule, and the letter around a patch of `git format-patch`. Any other line is used or refused.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from clew import ToolError
from clew_code.workspace.patch import BEGIN, FilePatch, Hunk, complete, parse_v4a, split_lines

HEADER: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)")
_NOWHERE: Final = "/dev/null"
_LETTER: Final = re.compile(r"From [0-9a-f]{40}\b")
_PASSED: Final = (
    re.compile(r"diff (?!--git |--cc |--combined ).*"),
    re.compile(r"Index: .*"),
    re.compile(r"={60,}"),
)
_SILENT: Final = re.compile(r"(?:dis)?similarity index \d{1,3}%|index [0-9a-f]+\.\.[0-9a-f]+")
_INDEX: Final = re.compile(r"index [0-9a-f]+\.\.[0-9a-f]+ (\d{6})")
_EXTENDED: Final = re.compile(
    r"(old mode|new mode|new file mode|deleted file mode|rename from|rename to|copy from|copy to) "
    r"(.+)"
)
_MODES: Final = {"100644": False, "100755": True}
_PREFIXES: Final = (
    ("a/", "b/"), ("", ""), ("i/", "w/"), ("c/", "i/"), ("c/", "w/"), ("o/", "w/"), ("w/", "i/"),
)  # fmt: skip
"""What git puts before names (`diff.mnemonicPrefix`, `diff.noprefix`)."""

_TIME: Final = re.compile(r"\s*|\t\s*(?:\d{4}-\d\d-\d\d|[A-Z][a-z]{2} [A-Z][a-z]{2} )[\w:.+\- ]*")
"""What may stand behind the name of a file: nothing, or when it was changed."""

_SIGNATURE: Final = re.compile(r"\d+(?:\.\d+)+.*")
_ESCAPE: Final = re.compile(r"\\([0-7]{3}|.)", re.DOTALL)
_ESCAPED: Final = {
    "a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92,
}  # fmt: skip


def parse_patch(patch: str) -> list[FilePatch]:
    """The files of a patch in either format. Raises `ToolError` that names the invalid line."""
    lines = split_lines(patch)
    if lines[0].rstrip() == BEGIN:
        patches = list(parse_v4a(lines))
    elif any(is_file_start(lines, at) for at in range(len(lines))):
        patches = list(_DiffReader([line.removesuffix("\r") for line in lines], lines).files())
    else:
        patches = []
    if not patches:
        raise ToolError(
            f"there is no file in the patch: begin it with {BEGIN!r}, then "
            "'*** Update File: PATH', or with '--- a/PATH' and '+++ b/PATH'"
        )
    return patches


def is_file_header(lines: list[str], at: int) -> bool:
    """Whether the two header lines of a file are here."""
    pair = lines[at : at + 2]
    return len(pair) == 2 and pair[0].startswith("--- ") and pair[1].startswith("+++ ")


def is_file_start(lines: list[str], at: int) -> bool:
    """Whether the part of a file begins here."""
    return lines[at].startswith("diff --git ") or is_file_header(lines, at)


def is_signature(lines: list[str], at: int) -> bool:
    """Whether the end of a letter of `git format-patch` is here: "-- " and git's version."""
    pair = lines[at : at + 2]
    return (
        len(pair) == 2
        and pair[0].rstrip() == "--"
        and bool(_SIGNATURE.fullmatch(pair[1].rstrip()))
        and (
            at + 2 == len(lines) or not lines[at + 2].strip() or bool(_LETTER.match(lines[at + 2]))
        )
    )


@dataclass(slots=True)
class _Section:
    """The header of one file: git's lines by their names, and the names of `---` and `+++`."""

    line: int
    git: str = ""
    headers: dict[str, str] = field(default_factory=dict[str, str])
    old: str = ""
    new: str = ""
    hunks: list[Hunk] = field(default_factory=list[Hunk])


class _DiffReader:
    """Reads line by line; `raw` are the same lines with their CR."""

    def __init__(self, lines: list[str], raw: list[str]) -> None:
        self.lines, self.raw, self.at = lines, raw, 0

    def files(self) -> Iterator[FilePatch]:
        while self.at < len(self.lines):
            if is_file_start(self.lines, self.at):
                yield _file_patch(self._section())
            elif self.at == 0 and _LETTER.match(self.lines[0]):
                self._letter()
            elif is_signature(self.lines, self.at):
                self.at += 2
                self._letter()
            elif not self._passed():
                raise ToolError(self._refused("is not part of a diff"))

    def _passed(self) -> bool:
        """Pass over a line that says nothing of the files."""
        line = self.lines[self.at]
        if line.strip() and not any(known.fullmatch(line) for known in _PASSED):
            return False
        self.at += 1
        return True

    def _letter(self) -> None:
        """Pass over the head of a letter, down to the first file."""
        at = self.at
        while at < len(self.lines) and not self.lines[at].strip():
            at += 1
        if at < len(self.lines) and _LETTER.match(self.lines[at]):
            while at < len(self.lines) and not is_file_start(self.lines, at):
                at += 1
        self.at = at

    def _refused(self, why: str) -> str:
        return f"line {self.at + 1} of the patch {why}: {self.lines[self.at][:60]!r}"

    def _section(self) -> _Section:
        now = _Section(self.at + 1)
        if self.lines[self.at].startswith("diff --git "):
            now.git = self.lines[self.at][len("diff --git ") :]
            self.at += 1
            while self.at < len(self.lines) and self._extended(now):
                self.at += 1
        if self.at < len(self.lines) and is_file_header(self.lines, self.at):
            now.old, now.new = (
                _header_name(self.lines[at], at + 1) for at in (self.at, self.at + 1)
            )
            self.at += 2
            while self.at < len(self.lines) and self.lines[self.at].startswith("@@"):
                now.hunks.append(self._hunk())
        return now

    def _extended(self, now: _Section) -> bool:
        """Take one of git's own header lines. False if this is none."""
        line = self.lines[self.at]
        if line.startswith(("GIT binary patch", "Binary files ")):
            raise ToolError(self._refused("changes a binary file, which no patch does here"))
        if indexed := _INDEX.fullmatch(line):
            _mode(indexed[1], f"line {self.at + 1} of the patch")
            return True
        if _SILENT.fullmatch(line):
            return True
        if (match := _EXTENDED.fullmatch(line)) is None:
            return False
        if match[1] in now.headers:
            raise ToolError(self._refused("is there twice for one file"))
        where = f"line {self.at + 1} of the patch"
        is_mode = match[1].endswith("mode")
        now.headers[match[1]] = match[2] if is_mode else _unquoted(match[2], where)
        if is_mode:
            _mode(match[2], where)
        return True

    def _hunk(self) -> Hunk:
        header = HEADER.fullmatch(self.lines[self.at])
        if header is None:
            raise ToolError(f"line {self.at + 1} of the patch is not a header '@@ -1,2 +1,3 @@'")
        left = [int(header[group] or "1") for group in (2, 4)]
        hunk, start = Hunk(), self.at + 1
        self.at += 1
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.startswith("\\"):
                self._open_end(hunk)
            elif any(left):
                sign = hunk.add(self.raw[self.at], f"line {self.at + 1} of the patch")
                self._check_open(hunk, sign)
                left[0] -= sign != "+"
                left[1] -= sign != "-"
            else:
                break
            self.at += 1
        if any(left) or self._goes_on():
            raise ToolError(
                f"the header in line {start} of the patch counts other lines than it has"
            )
        if hunk.was_open or hunk.ends_open:
            hunk.was_open, hunk.ends_open = bool(hunk.was_open), bool(hunk.ends_open)
        return hunk

    def _goes_on(self) -> bool:
        """Whether a line of a hunk follows that its header does not count."""
        if self.at >= len(self.lines) or is_file_header(self.lines, self.at):
            return False
        line = self.lines[self.at]
        return (
            line[:1] in {" ", "-", "+"}
            and bool(line.strip())
            and not is_signature(self.lines, self.at)
        )

    def _open_end(self, hunk: Hunk) -> None:
        r"""Take `\ No newline at end of file` for the line above, in any language."""
        if not hunk.lines or self.lines[self.at - 1].startswith("\\"):
            raise ToolError(self._refused("stands below no line of a file"))
        sign = hunk.lines[-1][0]
        hunk.was_open = True if sign != "+" else hunk.was_open
        hunk.ends_open = True if sign != "-" else hunk.ends_open

    def _check_open(self, hunk: Hunk, sign: Literal[" ", "-", "+"]) -> None:
        """A line without a newline is the last one of its file."""
        if (hunk.was_open and sign != "+") or (hunk.ends_open and sign != "-"):
            raise ToolError(self._refused("comes after the last line of its file"))


def _mode(word: str, where: str) -> None:
    if word not in _MODES:
        what = {"120000": "a link", "160000": "a submodule"}.get(word, f"the mode {word}")
        raise ToolError(f"{where} is about {what}, and patches change only files here")


def _header_name(line: str, number: int) -> str:
    """The name in a line `--- PATH` or `+++ PATH`, without a timestamp."""
    text, where = line[4:], f"line {number} of the patch"
    if text.startswith('"'):
        end = 1
        while end < len(text) and text[end] != '"':
            end += 2 if text[end] == "\\" else 1
        name, rest = _unquoted(text[: end + 1], where), text[end + 1 :]
    else:
        name, tab, rest = text.partition("\t")
        name, rest = name.strip(), tab + rest
    if not _TIME.fullmatch(rest):
        raise ToolError(f"{where} has words behind the name: {line[:60]!r}")
    return name


def _unquoted(text: str, where: str) -> str:
    """A name as git writes it: unusual ones in quotes, with escapes (`core.quotePath`)."""
    if not text.startswith('"'):
        return text
    inner = text[1:-1]
    if len(text) < 2 or not text.endswith('"') or '"' in _ESCAPE.sub("", inner):
        raise ToolError(f"{where} has a quoted name without an end: {text[:60]!r}")
    data, at = bytearray(), 0
    for escape in _ESCAPE.finditer(inner):
        data += inner[at : escape.start()].encode("utf-8", "surrogatepass")
        code = int(escape[1], 8) if escape[1].isdecimal() else _ESCAPED.get(escape[1], 256)
        if code > 255:
            raise ToolError(f"{where} has an unknown escape {escape[0]!r} in a name")
        data.append(code)
        at = escape.end()
    data += inner[at:].encode("utf-8", "surrogatepass")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ToolError(f"{where} names a file whose name is not UTF-8") from error


def _git_names(text: str, where: str) -> tuple[str, str]:
    """The two names of `diff --git OLD NEW`, which must be one but for their prefixes."""
    if text.startswith('"') or text.endswith('"'):
        match = re.fullmatch(r'("(?:\\.|[^"\\])*"|\S+) ("(?:\\.|[^"\\])*"|\S+)', text)
        if match is not None:
            return _unquoted(match[1], where), _unquoted(match[2], where)
    half = len(text) // 2
    if len(text) % 2 and text[half] == " ":
        old, new = text[:half], text[half + 1 :]
        if old == new or _bare(old) == _bare(new):
            return old, new
    words = text.split(" ")
    return (words[0], words[1]) if len(words) == 2 else ("", "")


def _bare(name: str) -> str:
    """A name without git's prefix."""
    return name[2:] if len(name) > 2 and name[1] == "/" and name[0] in "abciwo" else name


def _plain_names(old: str, new: str, where: str) -> tuple[str, str]:
    """The paths that two names of a header stand for; "" for /dev/null."""
    if old == new == _NOWHERE:
        raise ToolError(f"{where} names no file, only {_NOWHERE}")
    if old == _NOWHERE:
        return "", _bare(new)
    if new == _NOWHERE:
        return _bare(old), ""
    if old == new:
        return old, new
    if _bare(old) == _bare(new):
        return _bare(old), _bare(new)
    if old.startswith("a/") and new.startswith("b/"):
        return old[2:], new[2:]
    raise ToolError(
        f"{where} names two files, {old!r} and {new!r}: write a/OLD and b/NEW to rename"
    )


def _file_patch(now: _Section) -> FilePatch:
    """What a section comes to. Raises `ToolError` where its lines contradict each other."""
    where, headers = f"line {now.line} of the patch", now.headers
    names: set[tuple[str, str]] = set()
    if now.old:
        names.add(_plain_names(now.old, now.new, where))
    for verb in ("rename", "copy"):
        if (f"{verb} from" in headers) != (f"{verb} to" in headers):
            raise ToolError(f"{where}: '{verb} from' and '{verb} to' belong together")
        if f"{verb} from" in headers:
            names.add((headers[f"{verb} from"], headers[f"{verb} to"]))
    if now.git:
        names |= _named_by_git(now, names, where)
    if len(names) != 1:
        raise ToolError(f"{where}: the header of the file names different files")
    ((old, new),) = names
    patch = _of_kind(now, old, new, where)
    patch.copy = "copy from" in headers
    patch.hunks = now.hunks
    return complete(patch)


def _named_by_git(now: _Section, names: set[tuple[str, str]], where: str) -> set[tuple[str, str]]:
    """The names of `diff --git`: held against the others, or used if there are none."""
    if not names:
        old, new = _git_names(now.git, where)
        if not old:
            raise ToolError(f"{where} does not tell where its first name ends")
        old, new = _plain_names(old, new, where)
        created, deleted = "new file mode" in now.headers, "deleted file mode" in now.headers
        return {("" if created else old, "" if deleted else new)}
    for known_old, known_new in names:
        old, new = known_old or known_new, known_new or known_old
        if now.git in {f"{one}{old} {other}{new}" for one, other in _PREFIXES}:
            return set()
        if '"' in now.git and _plain_names(*_git_names(now.git, where), where) == (old, new):
            return set()
    raise ToolError(f"{where}: the header of the file names different files")


def _of_kind(now: _Section, old: str, new: str, where: str) -> FilePatch:
    headers = now.headers
    if ("old mode" in headers) != ("new mode" in headers):
        raise ToolError(f"{where}: 'old mode' and 'new mode' belong together")
    if ("new file mode" in headers and old) or ("deleted file mode" in headers and new):
        raise ToolError(f"{where}: the header says of the file both that it is there and is not")
    for name, word in ((old, "new file mode 100644"), (new, "deleted file mode 100644")):
        if now.git and not name and word[:-7] not in headers:
            raise ToolError(f"{where}: the line {word!r} is missing below 'diff --git'")
    kinds = [one for one in ("new file mode", "deleted file mode", "old mode") if one in headers]
    moves = [one for one in ("rename from", "copy from") if one in headers]
    if len(kinds) > 1 or len(moves) > 1 or (moves and kinds[:1] not in ([], ["old mode"])):
        raise ToolError(f"{where}: {' and '.join([*kinds, *moves])} exclude each other")
    if not old:
        if not now.hunks and "new file mode" not in headers:
            raise ToolError(f"{where}: the patch has no lines for {new}")
        runs = _MODES[headers["new file mode"]] if "new file mode" in headers else None
        return FilePatch("Add", new, executable=runs or None)
    if not new:
        return FilePatch("Delete", old, exact=True)
    changed = _MODES[headers["new mode"]] if "new mode" in headers else None
    if changed is not None and changed == _MODES[headers["old mode"]]:
        raise ToolError(f"{where}: old and new mode are the same")
    return FilePatch("Update", old, "" if old == new else new, executable=changed)
