"""The git repositories in a folder, and what git's settings name there: git runs programs of both.

Git is asked for settings only, which runs nothing.
"""

import contextlib
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from clew_code.workspace.safe_path import GIT_FOLDER, folded

_SECONDS: Final = 10.0

_HEAD: Final = "head"
_PARTS: Final = ("objects", "refs", "commondir")

_PATHS: Final = re.compile(r"core\.hookspath|include\.path|includeif\..*\.path", re.DOTALL)
"""Settings whose value is a path of what git runs or reads as settings."""

_PROGRAMS: Final = re.compile(
    r"core\.(?:fsmonitor|editor|pager|sshcommand|askpass|gitproxy)|pager\..*|sequence\.editor"
    r"|diff\.external|diff\..*\.(?:command|textconv)|filter\..*\.(?:clean|smudge|process)"
    r"|merge\..*\.driver|(?:merge|diff)tool\..*\.(?:cmd|path)|gpg\.(?:.*\.)?program|alias\..*"
    r"|credential\.(?:.*\.)?helper|interactive\.difffilter|trailer\..*\.(?:command|cmd)"
    r"|submodule\..*\.update|uploadpack\.packobjectshook",
    re.DOTALL,
)
"""Settings whose value is a command line."""

_HARMLESS: Final = re.compile(
    r"core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|symlinks"
    r"|precomposeunicode|autocrlf|eol)|user\.(?:name|email)|init\.defaultbranch"
    r"|remote\..*\.(?:url|fetch)|branch\..*\.(?:remote|merge|rebase)"
    r"|extensions\.(?:objectformat|refstorage)",
    re.DOTALL,
)
"""All settings of a repository that names no program, file or other repository to git."""

_FOREIGN: Final = ("commondir", "config.worktree", "modules", "worktrees")
_ALTERNATES: Final = ("objects/info/alternates", "objects/info/http-alternates")


def makes_repository(folder: str, name: str = "") -> str:
    """Why a folder is a git repository by what is in it, or would be with `name`; "" if it is not.

    Git takes any folder for one that has a HEAD and objects, whatever it is called.
    """
    if folded(name) == _HEAD:
        return "a file of this name makes git take the folder for a repository"
    with contextlib.suppress(OSError):
        inside = {folded(one) for one in os.listdir(folder)}
        if _HEAD in inside and not inside.union({folded(name)}).isdisjoint(_PARTS):
            return "it belongs to a git repository, whose settings name programs"
    return ""


def is_repository(names: list[str]) -> bool:
    """Whether a folder with these names in it is one that git would take for a repository."""
    inside = {folded(one) for one in names}
    return _HEAD in inside and not inside.isdisjoint(_PARTS)


def names_in(folder: str) -> tuple[list[str], list[str]]:
    """The names in a folder, and those of folders; none where it cannot be read."""
    try:
        with os.scandir(folder) as inside:
            entries = list(inside)
    except OSError:  # it has gone, or its path is too long for any program that is given it
        return [], []
    folders = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    return [entry.name for entry in entries], folders


def named_by_settings(root: str) -> list[str]:
    """What lies below a folder and is run, or read as settings, by git: whether it is there or not.

    A hook, a filter, an included file. Absolute paths.
    """
    top = next((str(one) for one in (Path(root), *Path(root).parents)
                if os.path.lexists(one / GIT_FOLDER)), root)  # fmt: skip
    fields = _git("-C", root, "config", "--list", "-z", "--show-origin").split("\0")
    named: dict[str, None] = {}
    for origin, entry in zip(fields[::2], fields[1::2], strict=False):
        file = os.path.join(root, origin.removeprefix("file:"))
        key, _, value = entry.partition("\n")
        if _PATHS.fullmatch(key):
            beside = top if key.startswith("core") else os.path.dirname(file)
            paths = [os.path.join(beside, os.path.expanduser(value))]
        elif _PROGRAMS.fullmatch(key):
            paths = [os.path.join(top, path) for path in _programs(key, value, top)]
        else:
            paths = []
        for path in (*paths, file):
            named |= dict.fromkeys(_below(root, path))
    return list(named)


def _programs(key: str, line: str, top: str) -> Iterator[str]:
    """The files that a command line may name, relative to the folder `top`, where it runs."""
    if key.startswith("alias.") and not line.startswith("!"):
        return  # a command of git's own
    try:
        words = shlex.split(line.lstrip("!"))
    except ValueError:
        words = line.split()
    for number, word in enumerate(words):
        if number and words[number - 1] == "-m":
            module = word.replace(".", "/")
            yield from (f"{module}.py", module)
        elif "/" in word or (number and _may_be_file(word, top)):
            yield os.path.expanduser(word)


def _may_be_file(word: str, top: str) -> bool:
    return not word.startswith("-") and ("." in word or os.path.isfile(os.path.join(top, word)))


def _below(root: str, path: str) -> Iterator[str]:
    """The path, and what it leads to, as far as they are below the folder and not git's own."""
    for each in dict.fromkeys((os.path.normpath(path), os.path.realpath(path))):
        inside = each.startswith(root + os.sep)
        if inside and GIT_FOLDER not in each[len(root) :].split(os.sep):
            yield each


def is_plain(git: str) -> bool:
    """Whether a repository names no program, no file and no other repository to git."""
    if os.path.islink(git) or not os.path.isdir(git):
        return False
    config = os.path.join(git, "config")
    hooks = os.path.join(git, "hooks")
    if any(os.path.islink(one) for one in (config, hooks)):
        return False
    if any(os.path.lexists(os.path.join(git, one)) for one in (*_FOREIGN, *_ALTERNATES)):
        return False
    with contextlib.suppress(OSError):
        if any(not name.endswith(".sample") for name in os.listdir(hooks)):
            return False
    if not os.path.lexists(config):
        return True
    listing = _git("config", "--file", config, "--no-includes", "--list", "-z")
    settings = [one.partition("\n") for one in listing.split("\0") if one]
    return bool(settings) and all(
        _HARMLESS.fullmatch(key) and "::" not in value for key, _, value in settings
    )


def _git(*words: str) -> str:
    """What git says of settings; "" if it is not there or cannot read them."""
    try:
        done = subprocess.run(  # noqa: S603 - a command of our own
            ["git", *words],  # noqa: S607 - the git that the person uses
            stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return os.fsdecode(done.stdout)
