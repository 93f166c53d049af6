"""The tools `git_status`, `git_diff` and `git_commit`.

Git runs in the sandbox, because a repository's configuration can name programs (filters, hooks,
monitors). Commits use plumbing commands, which run no hooks, and move a branch only if it still
points to the expected commit.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from clew.core.errors import ToolError
from clew.core.events import Json, Observation, Trust
from clew.core.interfaces import CALL, Guard, Parameters, Tool
from clew.toolbox.sandbox import CommandResult, Sandbox, SandboxError
from clew.toolbox.workspace.changes import DONE
from clew.toolbox.workspace.display import head_and_tail
from clew.toolbox.workspace.root import Root
from clew.toolbox.workspace.schemas import PATH, arguments

SECONDS: Final = 60.0
SHOWN: Final = 20_000
NEW: Final = "-"
"""The commit of a branch that does not exist yet."""

_SAFE: Final = (
    "--no-optional-locks", "--literal-pathspecs", "-c", "core.hooksPath=/dev/null",
    "-c", "core.fsmonitor=false", "-c", "color.ui=false", "-c", "core.quotePath=false",
    "-c", "core.pager=cat", "-c", "commit.gpgSign=false", "-c", "gc.auto=0",
    "-c", "advice.statusHints=false",
)  # fmt: skip
_USUAL: Final = ("main", "master", "trunk", "develop")
_BRANCH: Final = re.compile(r"(?!.*(?:\.\.|//|@\{|\.lock$))[\w][\w./-]{0,199}(?<![./])")


@dataclass(frozen=True)
class Git:
    """Git in one folder. `default_branch` allows commits to the default branch."""

    root: Root
    sandbox: Sandbox
    author: str
    default_branch: bool = False

    async def __call__(self, *args: str, writes: bool = False, fails: bool = False) -> str:
        """What a git command says. Raises `ToolError` if it fails, unless it `fails` often: ""."""
        done = await self.run(*args, writes=writes)
        if done.code == 0:
            return done.stdout.rstrip("\n")
        if fails:
            return ""
        said = done.why or done.stderr.strip() or f"it ended with {done.code}"
        if "not a git repository" in said:
            raise ToolError("the folder is no git repository: run_command can make one (git init)")
        raise ToolError(f"git {args[0]}: {head_and_tail(said, 2_000)}")

    async def run(self, *args: str, writes: bool = False) -> CommandResult:
        """Run a git command. Only one that `writes` may change `.git`."""
        box = Sandbox(
            root=self.root.path,
            writable=writes,
            readable=self.sandbox.readable,
            protected=(),
            limits=self.sandbox.limits,
            weak=self.sandbox.weak,
        )
        try:
            return await box.run(
                ["git", *_SAFE, *args], seconds=SECONDS, limit=400_000, variables=self._variables()
            )
        except SandboxError as error:
            raise ToolError(f"git was not run: {error}") from error

    def _variables(self) -> Mapping[str, str]:
        name, _, mail = self.author.partition(" <")
        return {
            "GIT_CEILING_DIRECTORIES": self.root.path.rpartition("/")[0] or "/",
            "GIT_CONFIG_NOSYSTEM": "1",
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


def git_tools(git: Git, trust: Trust, guard: Guard | None) -> list[Tool]:
    """The three tools; `trust` is the trust of the repository's content."""

    async def status(args: dict[str, Json], key: str) -> str:
        said = await git("status", "--short", "--branch", "--untracked-files=normal")
        return head_and_tail(said, SHOWN)

    async def diff(args: dict[str, Json], key: str) -> str:
        since = args.get("since") or "HEAD"
        if since.startswith("-"):
            raise ToolError(f"since is a commit or a branch, not {since!r}")
        paths = ["--", args["path"]] if args.get("path") else ["--"]
        said = await git("diff", "--no-ext-diff", "--no-textconv", since, *paths)
        return head_and_tail(said, SHOWN) or f"no tracked file differs from {since}"

    async def commit(args: dict[str, Json], key: str) -> Observation:
        call = CALL.get()
        if call is not None and call.task:
            return await _settled(git, call.task)
        return await commit_changes(git, args)

    return [
        Tool("git_status", _STATUS, arguments([]), status, effect="read", trust=trust, guard=guard,
             timeout=SECONDS * 2),
        Tool("git_diff", _DIFF, _DIFF_ARGS, diff, effect="read", trust=trust, guard=guard,
             timeout=SECONDS * 2),
        Tool("git_commit", _COMMIT, _COMMIT_ARGS, commit, effect="idempotent",
             guard=guard, timeout=SECONDS * 5),
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
    await git("add", "--all", "--", *(args.get("paths") or ["."]), writes=True)
    tree = await git("write-tree", writes=True)
    if head and tree == await git("rev-parse", f"{head}^{{tree}}"):
        raise ToolError("there is nothing to commit: no file differs from the last commit")
    parents = ["-p", head] if head else []
    made = await git("commit-tree", tree, *parents, "-m", args["message"], writes=True)
    call = CALL.get()
    if call is not None:
        await call.begun(f"{made} {old or NEW} {branch}")
    return await _moved(git, made, old or NEW, branch)


async def _moved(git: Git, made: str, old: str, branch: str) -> Observation:
    """Move the branch, if it has not moved meanwhile, and check it out."""
    before = "" if old == NEW else old
    await git("update-ref", f"refs/heads/{branch}", made, before, writes=True)
    await git("symbolic-ref", "HEAD", f"refs/heads/{branch}", writes=True)
    said = f"committed {made[:12]} on {branch}"
    return Observation(content=said, trust="trusted")


async def _branch(git: Git, wanted: str) -> str:
    """The branch to commit to. Raises `ToolError` for the default one, unless allowed."""
    now = await git("symbolic-ref", "-q", "--short", "HEAD", fails=True)
    branch = wanted or now
    if not branch:
        raise ToolError("no branch is checked out: name one, as branch")
    if not _BRANCH.fullmatch(branch):
        raise ToolError(f"{branch!r} is no name of a branch: use letters, digits, '-' and '/'")
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
        await git("symbolic-ref", "HEAD", f"refs/heads/{branch}", writes=True)
    return Observation(content=f"{DONE}committed {made[:12]} on {branch}", trust="trusted")


_STATUS: Final = "Say which branch is checked out, and which files differ from the last commit."
_DIFF: Final = "Show how files differ from the last commit, or from another commit or branch."
_COMMIT: Final = (
    "Commit all changes, or those of some paths, on a branch, which is made if it is not there. "
    "Not on the default branch."
)
_DIFF_ARGS: Final = arguments([], path=PATH, since={"type": "string", "maxLength": 200})
_PATHS: Final[Parameters] = {"type": "array", "items": PATH, "maxItems": 200}
_COMMIT_ARGS: Final = arguments(
    ["message"],
    message={"type": "string", "minLength": 1, "maxLength": 10_000},
    branch={"type": "string", "maxLength": 200},
    paths=_PATHS,
)
