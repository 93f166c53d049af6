"""What the settings of a workspace promise: a folder `project` beside the agent file."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from tests.matrix.model import Script
from tests.matrix.outcome import Outcome, every
from tests.matrix.promises import Add, promise, spread

DONE: Final = frozenset({"plain", "killed", "replayed"})
"""Situations in which a tool of the workspace was called, for certain."""


def _git(folder: Path, *words: str) -> str:
    names = ["-c", "user.name=Bo", "-c", "user.email=bo@matrix"]
    done = subprocess.run(
        ["git", *names, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


def _project(folder: Path) -> None:
    """A repository with one commit and one change, and a text that lies outside."""
    (folder / "project").mkdir()
    (folder / "outside").mkdir()
    (folder / "outside" / "note.txt").write_text("found outside\n")
    (folder / "project" / "note.txt").write_text("one line\n")
    _git(folder / "project", "init", "--quiet", "--initial-branch=main")
    _git(folder / "project", "add", "note.txt")
    _git(folder / "project", "commit", "--quiet", "--message=begun")
    (folder / "project" / "more.txt").write_text("not committed\n")


def _workspace(
    *keys: str, acts: str, argument: str, text: str = "", more: Any = None, **table: Any
) -> Add:
    """A promise of keys of the table; `acts` is the tool of the workspace that is called."""
    script = Script(acts=acts, argument=argument, text=text, more=more or {})
    return promise(
        *(f"workspace.{key}" for key in keys),
        values={"workspace": {"root": "project", **table}},
        script=script,
        name=f"workspace.{keys[0]}",
        lax="acts answers repeats",
        named=("workspace", acts),
        prepare=_project,
    )


def _tells(text: str) -> Callable[[Outcome], Iterator[str]]:
    """Complains unless a call was told a text."""

    def complain(o: Outcome) -> Iterator[str]:
        yield from offered(o)
        if o.situation in DONE - {"killed"} and o.work and not any(text in t for t in spread(o)):
            yield f"no call was told {text!r}: {spread(o)}"  # one that was cut is in doubt

    return complain


_WRITES: Final = {"overwrite": True, "path": "hello.txt"}


def offered(o: Outcome) -> Iterator[str]:
    """A complaint where a model that acts by itself was not shown the tool."""
    if o.way.name == "react" and not o.work:
        yield f"no request offers {o.script.acts}"


def written(o: Outcome) -> Iterator[str]:
    yield from offered(o)
    there = (o.folder / "project" / "hello.txt").exists()
    if o.situation == "denied" and there:
        yield "a file was written although that was denied"
    if o.situation in DONE and o.work and not there:
        yield f"no file was written: {spread(o)}"


promise(
    "workspace",
    values={"workspace": "project"},
    script=Script(acts="write_file", argument="content", more=_WRITES),
    lax="acts answers repeats",
    named=("write_file",),
    prepare=_project,
)(written)

_workspace("root", acts="write_file", argument="content", more=_WRITES)(written)


@_workspace("only", acts="read_file", argument="path", text="note.txt", only=["read_file"])
def only(o: Outcome) -> Iterator[str]:
    if o.work:
        others = ("write_file", "run_command", "grep")
        yield from every(
            o.work,
            lambda r: r.asked.offers("read_file") and not any(map(r.asked.offers, others)),
            "the one tool",
        )
    yield from _tells("one line")(o)


@_workspace(
    "protected", acts="write_file", argument="content", more=_WRITES, protected=["hello.txt"]
)
def protected(o: Outcome) -> Iterator[str]:
    yield from offered(o)
    if (o.folder / "project" / "hello.txt").exists():
        yield "a protected file was written"


@_workspace(
    "trusted", acts="read_file", argument="path", text="note.txt", only=["read_file"], trusted=True
)
def trusted(o: Outcome) -> Iterator[str]:
    made = [c for r in o.runs for c in r.calls if c.action.name == "read_file" and c.observation]
    if any(c.observation and c.observation.ok and c.observation.trust != "trusted" for c in made):
        yield "what a file says counts as untrusted"
    yield from _tells("one line")(o)


def _command(*keys: str, text: str, **table: Any) -> Add:
    return _workspace(*keys, acts="run_command", argument="command", text=text, **table)


@_command("network", text="readlink /proc/self/ns/net", network=True)
def network(o: Outcome) -> Iterator[str]:
    yield from _tells(str(Path("/proc/self/ns/net").readlink()))(o)


_command("readable", text="cat ../outside/note.txt", readable=["<FOLDER>/outside"])(
    _tells("found outside")
)
_command("env", text="echo so: $MATRIX_ACTS", env=["MATRIX_ACTS"])(_tells("so: run_command"))
_command("limits", text="head -c 9000 /dev/zero > big; wc -c big", limits={"file": 4096})(
    _tells("4096 big")
)


@_command("unsafe_kernel", text="echo done here", unsafe_kernel=True)
def unsafe_kernel(o: Outcome) -> Iterator[str]:
    held = [c.verdict for r in o.runs for c in r.calls if c.action.name == "run_command"]
    own = {each.by for each in held if each is not None and "AlreadyDone" not in each.by}
    if o.situation == "plain" and own:  # workers at once may be asked for the same
        yield f"a program was held by {own}"
    yield from _tells("done here")(o)


def _commits(*keys: str, branch: str, **table: Any) -> Add:
    more = {"branch": branch}
    return _workspace(*keys, acts="git_commit", argument="message", more=more, **table)


@_commits("default_branch", branch="main", default_branch=True)
def default_branch(o: Outcome) -> Iterator[str]:
    if (
        o.situation in DONE
        and o.work
        and not _git(o.folder / "project", "log", "main", "-1", "--", "more.txt")
    ):
        yield f"nothing was committed to main: {spread(o)}"


@_commits("author", branch="side", author="Ada <ada@matrix>")
def author(o: Outcome) -> Iterator[str]:
    if o.situation in DONE and o.work:
        text = _git(o.folder / "project", "log", "--all", "--format=%an <%ae>")
        if "Ada <ada@matrix>" not in text:
            yield f"nothing was committed by Ada: {text!r}, {spread(o)}"
