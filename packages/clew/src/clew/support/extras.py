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


def install_package(package: str, extra: str = "") -> str:
    """The command that adds one of clew's packages, with an extra, from where clew itself came."""
    note = _came_from("clew")
    together = [*REQUIRED.get(package, ()), package]  # an index may have others of these names
    with_extras = [(one, extra if one == package else "") for one in together]
    path = Path(unquote(urlsplit(str(note.get("url", ""))).path))
    if "dir_info" in note:
        urls = {one: {**note, "url": path.with_name(one).as_uri()} for one in together}
        wanted = [_requirement(one, urls[one], its) for one, its in with_extras]
        return f"pip install {' '.join(wanted)}"
    if "vcs_info" in note:
        return f"pip install {' '.join(_requirement(one, note, its) for one, its in with_extras)}"
    if "archive_info" in note and (wheels := _wheels_beside(path, together)):
        wheels[-1] += f"[{extra}]" if extra else ""
        return f"pip install {' '.join(map(repr, wheels))}"
    if extra:
        return f"pip install {_requirement(package, {}, extra)}"
    return f"make install WITH={package.removeprefix('clew-')} {CHECKOUT}"


def _wheels_beside(wheel: Path, packages: Sequence[str]) -> list[str]:
    """The wheels of these packages that lie beside clew's; none unless all do."""
    names = [wheel.name.replace("clew-", f"{one.replace('-', '_')}-", 1) for one in packages]
    wheels = [wheel.with_name(name) for name in names]
    return [*map(str, wheels)] if all(one.is_file() for one in wheels) else []


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
