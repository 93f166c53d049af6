"""How an optional part of clew is added, said in the way in which clew itself was installed."""

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit


def install(extra: str) -> str:
    """The command that adds an extra, for one line of advice.

    Installers note where a package came from in `direct_url.json` (PEP 610) unless that was an
    index: a folder, a repository, a file. Only looked for once something is missing.
    """
    return f"pip install {_requirement(extra)}"


def installed(module: str) -> bool:
    """Whether a module can be imported."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the package that it would be in
        return False


def missing_extra(missing: ImportError, extra: str) -> ImportError:
    """What an import says, in one line, where the extra that it stands on is not installed."""
    what = missing.name or str(missing).partition("\n")[0]
    message = f"{what} is missing: run {install(extra)}"
    return type(missing)(message, name=missing.name, path=missing.path)


def _requirement(extra: str) -> str:
    said = _came_from()
    url = str(said.get("url", ""))
    folder = unquote(urlsplit(url).path)
    match said:
        case {"dir_info": {"editable": True}}:
            return f"-e '{folder}[{extra}]'"
        case {"dir_info": _}:
            return f"'{folder}[{extra}]'"
        case {"vcs_info": {"vcs": vcs, "commit_id": commit}}:
            return f"'clew[{extra}] @ {vcs}+{url}@{commit}'"
        case {"archive_info": _}:
            return f"'clew[{extra}] @ {url}'"
        case _:
            return f"'clew[{extra}]'"


def _came_from() -> dict[str, Any]:
    """What the installer noted; empty where clew came from an index, or nobody says."""
    for folder in sys.path:
        for file in Path(folder or ".").glob("clew-*.dist-info/direct_url.json"):
            try:
                said: dict[str, Any] = json.loads(file.read_bytes())
            except (OSError, ValueError):
                return {}
            return said
    return {}
