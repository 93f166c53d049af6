"""The tools `git_status`, `git_diff` and `git_commit`.

Git runs in the sandbox, because a repository's configuration can name programs (filters, hooks,
monitors). All of these are switched off as well. While git looks at files it can write objects and
a copy of the index (`git_index`), and nothing else; when it moves a branch, refs and nothing else.
Commits use plumbing commands, which run no hooks, and move a branch only if it still points to the
expected commit.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from clew import Observation, Tool, ToolError
from clew.guards import Labels
from clew.interfaces import CALL, Guard, Json, Parameters, Trust
from clew.tools import Attempts
from clew_code.sandbox import CommandResult, Sandbox, SandboxError
from clew_code.workspace import gate
from clew_code.workspace.changes import DONE
from clew_code.workspace.display import head_and_tail
from clew_code.workspace.git_index import (
    Staging,
    check_nothing_in_progress,
    check_readable,
    conflict_line,
    git_folder,
    staging,
)
from clew_code.workspace.root import Root
from clew_code.workspace.schemas import PATH, arguments

SECONDS: Final = 60.0
MAX_OUTPUT_CHARS: Final = 20_000
LIMIT: Final = 20_000_000
NEW: Final = "-"
"""The commit of a branch that does not exist yet."""

_SAFE: Final = (
    "--no-optional-locks", "--literal-pathspecs", "-c", "core.hooksPath=/dev/null",
    "-c", "core.fsmonitor=false", "-c", "color.ui=false", "-c", "core.quotePath=false",
    "-c", "core.pager=cat", "-c", "commit.gpgSign=false", "-c", "gc.auto=0",
    "-c", "advice.statusHints=false", "-c", "core.splitIndex=false",
    "-c", "maintenance.auto=false", "-c", "diff.ignoreSubmodules=dirty",
    "-c", "core.untrackedCache=false",
)  # fmt: skip
_LOOKS_AT_FILES: Final = frozenset({"status", "diff"})
"""Commands that look at files, besides all that have a staged index: git looks again at files that
changed within a tick of the clock whenever it writes one (`write-tree` does), and filters them."""
_REFS: Final = frozenset({"refs", "logs", "HEAD", "packed-refs", "reftable"})
"""What is in `.git` that moving a branch changes."""
_FILTERS: Final = 200
"""The most filters that are turned off: each takes four settings."""
_ASKED: Final = 500
"""The most changed files whose attributes are asked for."""
_USUAL: Final = ("main", "master", "trunk", "develop")
_BRANCH: Final = re.compile(r"(?!.*(?:\.\.|//|@\{|\.lock$))[\w][\w./-]{0,199}(?<![./])")

_GITS_OWN: Final = re.compile(r"(?:[A-Z]+_)?HEAD")
"""Names by which git itself finds commits: a branch of such a name is ambiguous."""


@dataclass(frozen=True)
class Git:
    """Git in one folder. `default_branch` allows commits to the default branch."""

    root: Root
    sandbox: Sandbox
    author: str
    default_branch: bool = False

    async def __call__(
        self,
        *args: str,
        writable: Sequence[str] = (),
        staged: Staging | None = None,
        fails: bool = False,
    ) -> str:
        """What a git command says. Raises `ToolError` if it fails, unless it `fails` often: ""."""
        done = await self.run(*args, writable=writable, staged=staged)
        if done.code == 0 and not done.cut:
            return done.stdout.rstrip("\n")
        if fails:
            return ""
        raise await self._failed(args[0], done)

    async def _failed(self, command: str, done: CommandResult) -> ToolError:
        """Why a command failed."""
        if done.code is not None and (await self.run("rev-parse", "--git-dir")).code:
            git_folder(self.root.path)  # some commands say it in words of theirs
        return ToolError(f"git {command}: {head_and_tail(_reason(done), 2_000)}")

    async def run(
        self, *args: str, writable: Sequence[str] = (), staged: Staging | None = None
    ) -> CommandResult:
        """Run a git command that may change the `writable` names in `.git` and what is `staged`."""
        git = os.path.join(self.root.path, ".git")
        writable_paths = [os.path.join(git, name) for name in writable]
        box = Sandbox(
            root=self.root.path,
            writable=False,
            writable_paths=(*writable_paths, *([staged.folder] if staged else [])),
            readable=self.sandbox.readable,
            protected=self._protected(git) if "" in writable else (),
            limits=self.sandbox.limits,
            weak=self.sandbox.weak,
        )
        settings: dict[str, str] = {}
        if staged or args[0] in _LOOKS_AT_FILES:
            settings = _without_filters(await self.filters())
        variables = self._variables()
        if staged:
            variables["GIT_INDEX_FILE"] = staged.index
            settings["core.excludesFile"] = staged.excludes
        variables |= _as_variables(settings)
        try:
            return await box.run(
                ["git", *_SAFE, *args], seconds=SECONDS, limit=LIMIT, variables=variables
            )
        except SandboxError as error:
            raise ToolError(f"git was not run: {error}") from error

    @staticmethod
    def _protected(git: str) -> tuple[str, ...]:
        """What is in `.git`, apart from refs."""
        return tuple(f".git/{name}" for name in os.listdir(git) if name not in _REFS)

    async def filters(self) -> list[str]:
        """The drivers of filters, which are programs that the configuration names."""
        words = ("config", "--null", "--name-only", "--get-regexp", r"^filter\..*\.")
        done = await self.run(*words)
        if done.code not in {0, 1} or done.cut:  # 1: there is none
            raise await self._failed("config", done)
        keys = (key for key in done.stdout.split("\0") if "." in key)
        names = list(dict.fromkeys(key.split(".", 1)[1].rpartition(".")[0] for key in keys))
        if len(names) > _FILTERS:
            raise ToolError(
                f"the repository names {len(names):,} filters, and at most {_FILTERS} are "
                "turned off: git was not run"
            )
        return names

    def _variables(self) -> dict[str, str]:
        name, _, mail = self.author.partition(" <")
        return {
            "GIT_CEILING_DIRECTORIES": self.root.path.rpartition("/")[0] or "/",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_AUTHOR_NAME": name,
            "GIT_AUTHOR_EMAIL": mail.rstrip(">"),
            "GIT_COMMITTER_NAME": name,
            "GIT_COMMITTER_EMAIL": mail.rstrip(">"),
        }

    async def default(self) -> str:
        """The default branch, by the repository's configuration, or by its name."""
        remote = await self("symbolic-ref", "--short", "refs/remotes/origin/HEAD", fails=True)
        if remote:
            return remote.partition("/")[2]
        known = (await self("for-each-ref", "--format=%(refname:short)", "refs/heads")).split("\n")
        now = await self("symbolic-ref", "-q", "--short", "HEAD", fails=True)
        return next((name for name in _USUAL if name in {*known, now}), now)


def _reason(done: CommandResult) -> str:
    """Why a command gave nothing."""
    if done.cut:
        return "it has too much to say: name fewer paths"
    ended = "it did not end" if done.code is None else f"it ended with {done.code}"
    return done.why or done.stderr.strip() or ended


def _without_filters(names: Sequence[str]) -> dict[str, str]:
    """Settings that run no filter; conversions of git's own (line ends, encodings) stay."""
    off = {"clean": "", "smudge": "", "process": "", "required": "false"}
    return {f"filter.{name}.{key}": text for name in names for key, text in off.items()}


def _as_variables(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings of git as variables: their names may hold any character."""
    told = {"GIT_CONFIG_COUNT": str(len(settings))}
    for at, (key, text) in enumerate(settings.items()):
        told |= {f"GIT_CONFIG_KEY_{at}": key, f"GIT_CONFIG_VALUE_{at}": text}
    return told


def git_tools(git: Git, trust: Trust, guard: Guard | None) -> list[Tool]:
    """The three tools; `trust` is the trust of the repository's content."""

    async def status(args: dict[str, Json], key: str) -> str:
        check_readable(git.root.path)
        output = await git(
            *("status", "--short", "--branch", "--untracked-files=normal"),
            "--ignore-submodules=dirty",
        )
        return head_and_tail(output, MAX_OUTPUT_CHARS)

    async def diff(args: dict[str, Json], key: str) -> str:
        since = args.get("since") or "HEAD"
        if since.startswith("-"):
            raise ToolError(f"since is a commit or a branch, not {since!r}")
        check_readable(git.root.path)
        paths = ["--", args["path"]] if args.get("path") else ["--"]
        output = await git("diff", "--no-ext-diff", "--no-textconv", since, *paths)
        return head_and_tail(output, MAX_OUTPUT_CHARS) or f"no tracked file differs from {since}"

    async def commit(args: dict[str, Json], key: str) -> Observation:
        call = CALL.get()
        check_readable(git.root.path)
        async with gate.exclusive_folder(git_folder(git.root.path)):
            if call is not None and call.task:
                return await _settled(git, call.task)
            return await commit_changes(git, args)

    return [
        Tool("git_status", _STATUS, arguments([]), status, effect="read", trust=trust, guard=guard,
             attempts=Attempts(timeout=SECONDS * 2)),
        Tool("git_diff", _DIFF, _DIFF_ARGS, diff, effect="read", trust=trust, guard=guard,
             attempts=Attempts(timeout=SECONDS * 2)),
        Tool("git_commit", _COMMIT, _COMMIT_ARGS, commit, effect="idempotent",
             labels=Labels(content=("message",)), guard=guard,
             attempts=Attempts(timeout=SECONDS * 5)),
    ]  # fmt: skip


async def commit_changes(git: Git, args: dict[str, Json]) -> Observation:
    """Commit changes and move a branch to the commit. Raises `ToolError` with no branch moved."""
    branch = await _branch(git, args.get("branch") or "")
    head = await git("rev-parse", "-q", "--verify", "HEAD", fails=True)
    old = await git("rev-parse", "-q", "--verify", f"refs/heads/{branch}", fails=True)
    if old and old != head:
        raise ToolError(
            f"branch {branch} is at another commit than the files: git switch to it first, or "
            "name a new branch"
        )
    folder = git_folder(git.root.path)
    check_nothing_in_progress(folder)
    with staging(folder) as staged:
        await _check_merged(git, staged)
        if paths := args.get("paths"):
            tree, left = await _tree_of_paths(git, staged, head, paths)
        else:
            tree, left = await _staged_tree(git, staged, head, ["."])
        if head and tree == await git("rev-parse", f"{head}^{{tree}}"):
            raise ToolError("there is nothing to commit: no file differs from the last commit")
        parents = ["-p", head] if head else []
        made = await git("commit-tree", tree, *parents, "-m", args["message"], writable=["objects"])
        check_nothing_in_progress(folder)
        staged.install()
    call = CALL.get()
    if call is not None:
        await call.begun(f"{made} {old or NEW} {branch}")
    return await _moved(git, made, old or NEW, branch, left)


async def _check_merged(git: Git, staged: Staging) -> None:
    """Refuse files with a conflict. Raises `ToolError`."""
    unmerged = await git("ls-files", "--unmerged", "-z", staged=staged)
    if unmerged:
        conflicts = dict.fromkeys(one.partition("\t")[2] for one in unmerged.split("\0") if one)
        raise ToolError(
            f"{', '.join(conflicts)}: a conflict is not resolved; nothing was committed"
        )


async def _tree_of_paths(
    git: Git, staged: Staging, head: str, paths: Sequence[str]
) -> tuple[str, str]:
    """As `_staged_tree`, of the last commit and the paths alone: what else is staged stays so."""
    part = staged.empty()
    if head:
        await git("read-tree", head, staged=part)
    tree = await _staged_tree(git, part, head, paths)
    add = ("add", "--all", "--")
    if (await git.run(*add, *paths, writable=["objects"], staged=staged)).code:
        for path in paths:  # one of them is staged as deleted, and is no path there
            await git(*add, path, writable=["objects"], staged=staged, fails=True)
    return tree


async def _staged_tree(
    git: Git, staged: Staging, head: str, paths: Sequence[str]
) -> tuple[str, str]:
    """The tree of a commit, and a remark on it. Raises `ToolError` for what must not be in it."""
    await git("add", "--all", "--", *paths, writable=["objects"], staged=staged)
    base = head or await git("hash-object", "-t", "tree", "/dev/null")
    raw = await git(
        "diff-index", "--cached", "--raw", "-z", "--no-renames", "--ignore-submodules=none", base,
        staged=staged,
    )  # fmt: skip
    fields = raw.split("\0")
    changed = list(zip(fields[::2], fields[1::2], strict=False))
    for status, path in changed:
        old_mode, new_mode, *_ = status.lstrip(":").split(" ")
        if new_mode == "160000" != old_mode:
            raise ToolError(
                f"{path} is a git repository of its own: nothing was committed; name other paths, "
                "or let a person make it a submodule"
            )
    names = [path for status, path in changed if not status.endswith("D")]
    await _check_conflicts(git, head, names)
    tree = await git("write-tree", writable=["objects"], staged=staged)
    return tree, await _unfiltered(git, names)


async def _check_conflicts(git: Git, head: str, paths: Sequence[str]) -> None:
    """Refuse files with marks of a conflict that the last commit has not got in them."""
    for path in paths:
        try:
            line = conflict_line(git.root.read(path).data)
        except ToolError:
            continue  # a link, or too large for marks that somebody left
        before = await git("cat-file", "blob", f"{head}:{path}", fails=True) if line else ""
        if line and not conflict_line(before.encode()):
            raise ToolError(
                f"{path} has marks of a conflict from line {line} on (<<<<<<<): resolve it first; "
                "nothing was committed"
            )


async def _unfiltered(git: Git, paths: Sequence[str]) -> str:
    """Which files a filter would have changed."""
    if not paths or not (known := await git.filters()):
        return ""
    fields = (await git("check-attr", "-z", "filter", "--", *paths[:_ASKED])).split("\0")
    filtered = [(path, name) for path, _, name in zip(*[iter(fields)] * 3, strict=False)]
    kept = [f"{path} ({name})" for path, name in filtered if name in known]
    if not kept:
        return ""
    return f"; filters are programs and were not run: {', '.join(kept)}"


async def _moved(git: Git, made: str, old: str, branch: str, left: str = "") -> Observation:
    """Move the branch, if it has not moved meanwhile, and check it out."""
    before = "" if old == NEW else old
    await git("update-ref", f"refs/heads/{branch}", made, before, writable=[""])
    await git("symbolic-ref", "HEAD", f"refs/heads/{branch}", writable=[""])
    message = f"committed {made[:12]} on {branch}{left}"
    return Observation(content=message, trust="untrusted" if left else "trusted")  # names of files


async def _branch(git: Git, wanted: str) -> str:
    """The branch to commit to. Raises `ToolError` for the default one, unless allowed."""
    now = await git("symbolic-ref", "-q", "--short", "HEAD", fails=True)
    branch = wanted or now
    if not branch:
        raise ToolError("no branch is checked out: name one, as branch")
    if not _BRANCH.fullmatch(branch) or _GITS_OWN.fullmatch(branch):
        raise ToolError(f"{branch!r} is not a valid branch name: use letters, digits, '-' and '/'")
    if branch == await git.default() and not git.default_branch:
        raise ToolError(
            f"{branch} is the default branch, and only a person commits there: name a new one, "
            "as branch"
        )
    return branch


async def _settled(git: Git, task: str) -> Observation:
    """The outcome of a commit that was begun: done before, made now, or unknown."""
    made, old, branch = task.split(" ")
    now = await git("rev-parse", "-q", "--verify", f"refs/heads/{branch}", fails=True) or NEW
    if now == old:
        return await _moved(git, made, old, branch)
    if now != made and (await git.run("merge-base", "--is-ancestor", made, now)).code:
        text = f"ERROR: unknown: branch {branch} is at {now[:12]}, and has no commit {made[:12]}"
        return Observation(content=text, ok=False, code="unknown", outcome="unknown")
    if now == made:
        await git("symbolic-ref", "HEAD", f"refs/heads/{branch}", writable=[""])
    return Observation(content=f"{DONE}committed {made[:12]} on {branch}", trust="trusted")


_STATUS: Final = "Say which branch is checked out, and which files differ from the last commit."
_DIFF: Final = "Show how files differ from the last commit, or from another commit or branch."
_COMMIT: Final = (
    "Commit all changes, or those of some paths, on a branch, which is made if it is not there. "
    "Not on the default branch."
)
_DIFF_ARGS: Final = arguments([], path=PATH, since={"type": "string", "maxLength": 200})
_PATHS: Final[Parameters] = {"type": "array", "items": PATH, "minItems": 1, "maxItems": 200}
_COMMIT_ARGS: Final = arguments(
    ["message"],
    message={"type": "string", "minLength": 1, "maxLength": 10_000},
    branch={"type": "string", "maxLength": 200},
    paths=_PATHS,
)
