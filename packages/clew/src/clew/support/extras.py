"""How an optional part is added, said in the way in which clew itself was installed."""

import importlib.util
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from clew.support.street import REQUIRED

CHECKOUT: Final = "(in a checkout of clew)"


def install(extra: str, package: str = "clew") -> str:
    """The command that adds an extra of one of clew's packages ("": what it needs), for a line.

    Installers note where a package came from in `direct_url.json` (PEP 610) unless they took a
    wheel by its name: a folder, a repository, a file. Only looked for once something is missing.
    No command names a package of clew alone, for an index may have another of that name.
    """
    return f"pip install {_requirement(package, _came_from(package), extra)}"


def install_package(package: str) -> str:
    """The command that adds one of clew's packages, from where clew itself came."""
    note = _came_from("clew")
    together = [*REQUIRED.get(package, ()), package]  # an index may have others of these names
    path = Path(unquote(urlsplit(str(note.get("url", ""))).path))
    if "dir_info" in note:
        folders = [{**note, "url": path.with_name(one).as_uri()} for one in together]
        return f"pip install {' '.join(_requirement(package, one, '') for one in folders)}"
    if "vcs_info" in note:
        return f"pip install {' '.join(_requirement(one, note, '') for one in together)}"
    if "archive_info" in note and (wheels := _wheels_beside(path, together)):
        return f"pip install {' '.join(repr(str(wheel)) for wheel in wheels)}"
    return f"make install WITH={package.removeprefix('clew-')} {CHECKOUT}"


def _wheels_beside(wheel: Path, packages: Sequence[str]) -> list[Path]:
    """The wheels of these packages that lie beside clew's; none unless all do."""
    names = [wheel.name.replace("clew-", f"{one.replace('-', '_')}-", 1) for one in packages]
    wheels = [wheel.with_name(name) for name in names]
    return wheels if all(one.is_file() for one in wheels) else []


def installed(module: str) -> bool:
    """Whether a module can be imported."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the package that it would be in
        return False


def missing_extra(missing: ImportError, extra: str, package: str = "clew") -> ImportError:
    """What an import says, in one line, where the extra that it stands on is not installed."""
    what = missing.name or str(missing).partition("\n")[0]
    message = f"{what} is missing: run {install(extra, package)}"
    return type(missing)(message, name=missing.name, path=missing.path)


def _requirement(package: str, note: dict[str, Any], extra: str) -> str:
    url = str(note.get("url", ""))
    folder = unquote(urlsplit(url).path)
    extras = f"[{extra}]" if extra else ""
    match note:
        case {"dir_info": {"editable": True}}:
            return f"-e '{folder}{extras}'"
        case {"dir_info": _}:
            return f"'{folder}{extras}'"
        case {"vcs_info": {"vcs": vcs, "commit_id": commit}}:
            requirement = f"{vcs}+{url}@{commit}#subdirectory=packages/{package}"
            return f"'{package}{extras} @ {requirement}'"
        case {"archive_info": _}:
            return f"'{package}{extras} @ {url}'"
        case _:
            return f"'packages/{package}{extras}' {CHECKOUT}"


def _came_from(package: str) -> dict[str, Any]:
    """What the installer noted of a package; empty where it noted nothing."""
    name = package.replace("-", "_")
    for folder in sys.path:
        for file in Path(folder or ".").glob(f"{name}-*.dist-info/direct_url.json"):
            try:
                note: dict[str, Any] = json.loads(file.read_bytes())
            except (OSError, ValueError):
                return {}
            return note
    return {}
