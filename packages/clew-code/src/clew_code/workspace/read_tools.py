"""The read-only tools: `list_files`, `read_file`, `grep`."""

from typing import Final

import msgspec
from anyio import to_thread

from clew import Observation, Tool, ToolError
from clew.interfaces import Json, Parameters, Trust, encode
from clew.tools.run_process import environment, run_process
from clew_code.sandbox.script import script
from clew_code.workspace.display import is_minified, number_lines, size
from clew_code.workspace.globs import glob
from clew_code.workspace.ignore import Looked, walk
from clew_code.workspace.root import File, Root, version
from clew_code.workspace.schemas import PATH, arguments
from clew_code.workspace.text import decode_text

LISTED: Final = 400
LOOKED: Final = 20_000
PAGE: Final = 300
"""The lines of a page."""
CHARS: Final = 40_000
DEFAULT_MATCHES: Final = 100
"""The most lines that a search shows."""
SECONDS: Final = 10


def read_tools(root: Root, trust: Trust) -> list[Tool]:
    """The three tools; `trust` is the trust of file content."""

    async def list_files(args: dict[str, Json], key: str) -> str:
        return await to_thread.run_sync(list_folder, root, args)

    async def read_file(args: dict[str, Json], key: str) -> Observation:
        return await to_thread.run_sync(read_page, root, args, trust)

    async def grep(args: dict[str, Json], key: str) -> str:
        return await search(root, args)

    return [
        Tool("list_files", _LIST, _LIST_ARGS, list_files, effect="read", trust=trust),
        Tool("read_file", _READ, _READ_ARGS, read_file, effect="read", trust=trust),
        Tool("grep", _GREP, _GREP_ARGS, grep, effect="read", trust=trust),
    ]


def list_folder(root: Root, args: dict[str, Json]) -> str:
    """The files below a folder, one per line. Raises `ToolError`."""
    path, names = args.get("path") or ".", args.get("glob") or ""
    wanted = glob(names if "/" in names else f"**/{names}") if names else None
    lines: list[str] = []
    more, looked = 0, Looked()
    for inside, entry in walk(
        root, path, looked, hidden=bool(args.get("hidden")), max_files=LOOKED
    ):
        looked.files += entry.kind != "folder"
        if wanted is not None and (entry.kind == "folder" or not wanted.fullmatch(inside)):
            continue
        if len(lines) >= LISTED:
            more += 1
        elif entry.kind == "folder":
            lines.append(f"{inside}/")
        else:
            about = size(entry.size) if entry.kind == "file" else entry.kind
            lines.append(f"{inside}  ({about})")
    if not lines and names:
        lines.append("nothing fits")
    elif not lines:
        lines.append("the folder is empty" if not looked.left_out else "nothing to list here")
    if more:
        lines.append(f"[… {more:,} more: name a folder below, or a glob]")
    return "\n".join([*lines, *filter(None, [looked.remark()])])


def read_page(root: Root, args: dict[str, Json], trust: Trust) -> Observation:
    """A range of a file's lines, with their numbers. Raises `ToolError`."""
    file = root.read(args["path"])
    now = version(file.data)
    content = _page(file, now, args)
    return Observation(content=content, trust=trust, versions={file.path: now})


def _page(file: File, now: str, args: dict[str, Json]) -> str:
    text = decode_text(file.data, file.path)
    lines = text.lines
    first = args.get("first") or 1
    last = min(args.get("last") or first + PAGE - 1, first + 2 * PAGE - 1, len(lines))
    if not lines:
        return f"{file.path} is empty"
    if first > len(lines):
        raise ToolError(f"{file.path} has {len(lines)} lines: line {first} is behind its end")
    if last < first:
        raise ToolError(f"last is {last}, before first, {first}")
    numbered = number_lines(lines[first - 1 : last], first)
    if len(numbered) > CHARS:
        numbered = numbered[:CHARS].rpartition("\n")[0]
        last = first + numbered.count("\n")
    about = f"{file.path}: lines {first}-{last} of {len(lines)}, version {now}"
    notes = [about, *filter(None, [text.description])]
    if is_minified(lines):
        notes.append("minified code: search it with grep, and change what it was made of")
    more = f"\n[lines {last + 1}-{len(lines)}: read on with first={last + 1}]"
    return f"{', '.join(notes)}\n{numbered}{more if last < len(lines) else ''}"


async def search(root: Root, args: dict[str, Json]) -> str:
    """The result of a search. Raises `ToolError` if it takes too long."""
    wanted = {
        "root": root.path,
        "pattern": args["pattern"],
        "path": args.get("path") or ".",
        "glob": args.get("glob") or "",
        "ignore_case": bool(args.get("ignore_case")),
        "context": args.get("context") or 0,
        "max_matches": DEFAULT_MATCHES,
        "seconds": SECONDS / 2,
    }
    ran = await run_process(
        script("clew_code.workspace.grep_process"),
        seconds=SECONDS,
        limit=2_000_000,
        env=environment(()),
        stdin=encode(wanted),
    )
    if ran.code is None:
        raise ToolError(
            f"the search took over {SECONDS} s: use a simpler pattern, or name a folder"
        )
    try:
        answer = msgspec.json.decode(ran.stdout, type=dict[str, str])
    except msgspec.DecodeError as error:
        raise RuntimeError(ran.stderr.decode(errors="replace")) from error
    if "error" in answer:
        raise ToolError(answer["error"])
    return answer["text"]


_LIST: Final = (
    "List files and folders, below a folder. Files that .gitignore names are left out, and hidden "
    "ones unless hidden is true."
)
_READ: Final = f"Read lines of a text file, with their numbers: {PAGE} at a time."
_GREP: Final = (
    "Search the lines of files for a regular expression (Python's). Answers path:line: text."
)
_GLOB: Final[Parameters] = {
    "type": "string",
    "maxLength": 200,
    "description": "Which files: *.py, src/**/*.ts, *.{c,h}",
}
_LINE: Final[Parameters] = {"type": "integer", "minimum": 1}
_LIST_ARGS: Final = arguments([], path=PATH, glob=_GLOB, hidden={"type": "boolean"})
_READ_ARGS: Final = arguments(["path"], path=PATH, first=_LINE, last=_LINE)
_GREP_ARGS: Final = arguments(
    ["pattern"],
    pattern={"type": "string", "minLength": 1, "maxLength": 1000},
    path=PATH,
    glob=_GLOB,
    ignore_case={"type": "boolean"},
    context={
        "type": "integer",
        "minimum": 0,
        "maximum": 10,
        "description": "Lines shown around each match",
    },
)
