"""`clew doctor models`: which models there are, and which of them can be used here."""

import itertools
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import anyio
import click
import msgspec
from rich.text import Text

from clew import ClewError, ConfigError
from clew.cli.errors import ANSWERED
from clew.cli.offers import offers
from clew.cli.options import DEBUG, JSON
from clew.cli.safe_text import json_text, say
from clew.cli.screen import console
from clew.models import OFFLINE, Downloads, Price, ProviderInfo, aliases, available, price
from clew.models.catalog import priced_models, served
from clew.support.extras import install
from clew.support.nearest_name import near_names
from clew.support.printable import inert
from clew.support.wings import MODELS, find, require

LOCAL: Final = "local"

ANY: Final = "MODEL"
"""Stands for the name of a model where none is known."""


@dataclass(frozen=True)
class Listed:
    """A model by the name that `--model` takes; `detail` is what is missing, or where it is."""

    model: str
    usable: bool
    detail: str
    price: Price | None = None


@click.command()
@click.argument(
    "provider", metavar="[PROVIDER|WORDS]", default="", shell_complete=offers("providers")
)
@click.option("--download", metavar="NAME", help="Fetch a listed model of `local` first.")
@JSON
@DEBUG
def models(provider: str, *, download: str | None, as_json: bool) -> int:
    """List the models of PROVIDER (default: all), or those whose names have WORDS in them.

    Servers on this machine, and those whose key is set, are asked for their models; for the others
    the list has the models with a known price, or without PROVIDER one of each. Usable models come
    first, then those that can be fetched. Prices are US dollars per million tokens.
    """
    if download is not None:
        _download(download.removeprefix(f"{LOCAL}:"))
        provider = provider or LOCAL
    listed = anyio.run(partial(_list, provider))
    if as_json:
        say(json_text([msgspec.to_builtins(one) for one in listed]))
        return ANSWERED
    out = console()
    width = max(len(one.model) for one in listed)
    for one in listed:
        mark, style = ("ok", "green") if one.usable else ("--", "dim")
        details = ", ".join(filter(None, (one.detail, _cost(one.price))))
        out.print(
            Text.assemble((f"{mark}  ", style), (f"{inert(one.model):<{width}}  ", "bold"), details)
        )
    return ANSWERED


async def _list(provider: str) -> list[Listed]:
    infos = {info.name: info for info in available(os.environ)}
    asked = aliases().get(provider, provider)
    if provider and asked not in {*infos, OFFLINE, LOCAL}:
        return await _search(provider, infos)
    by_provider: dict[str, list[Listed]] = {name: [] for name in infos}

    async def ask(info: ProviderInfo) -> None:
        models = await _models(info)
        by_provider[info.name] = models if provider else _one_of_each(info, models)

    async with anyio.create_task_group() as tasks:
        for name, info in infos.items():
            if not provider or name == asked:
                tasks.start_soon(ask, info)
    rules = Listed(OFFLINE, usable=True, detail="fixed rules, no language model", price=Price(0, 0))
    here = _local() if asked in {"", LOCAL} else []
    every = [
        *([rules] if asked in {"", OFFLINE} else []),
        *itertools.chain(*by_provider.values()),
        *here,
    ]
    return sorted(every, key=lambda one: (not one.usable, one not in here))


async def _search(words: str, infos: Mapping[str, ProviderInfo]) -> list[Listed]:
    """The models of any provider whose names have the words in them; usable ones come first.

    Raises `ConfigError` where they begin a provider's name, and where no model has them.
    """
    usable_first = sorted(infos, key=lambda name: not infos[name].usable)
    near = near_names(words, [*usable_first, LOCAL, *aliases()])
    unknown = f"there is no provider {words!r}"
    if near:
        unknown += f": did you mean {' or '.join(near[:3])}?"
    else:
        names = ", ".join(usable_first)
        unknown += f", and no model with that in its name: there are {names}"
    if any(name.startswith(words) for name in near):
        raise ConfigError(unknown)
    models = [_local()]

    async def ask(info: ProviderInfo) -> None:
        models.append(await _models(info))

    async with anyio.create_task_group() as tasks:
        for info in infos.values():
            tasks.start_soon(ask, info)
    named = [one for one in itertools.chain(*models) if words.casefold() in one.model.casefold()]
    if not named:
        raise ConfigError(unknown)
    return sorted(named, key=lambda one: (not one.usable, one.model))


def _one_of_each(info: ProviderInfo, models: list[Listed]) -> list[Listed]:
    """Of a provider that cannot be used, its example, and where the others are listed."""
    if any(one.usable for one in models) or len(models) == 1:
        return models
    name = f"{info.name}:{info.model}"
    example = next((one for one in models if one.model == name), models[0])
    more = f"{example.detail} (all {len(models)}: clew doctor models {info.name})"
    return [replace(example, detail=more)]


def _local() -> list[Listed]:
    """The models that can run in this process: those that can be fetched, and any file."""
    try:
        local = find(MODELS, LOCAL)
    except ConfigError as error:
        return [Listed(f"{LOCAL}:FILE.gguf", usable=False, detail=str(error), price=Price(0, 0))]
    listed: list[Listed] = []
    for one in local.offered() if isinstance(local, Downloads) else ():
        detail = "downloaded" if one.here else f"--download {one.name}"
        name = f"{LOCAL}:{one.name}"
        listed.append(Listed(name, one.here, f"{detail}, {one.description}", Price(0, 0)))
    any_file = Listed(
        f"{LOCAL}:FILE.gguf", usable=False, detail="any model file", price=Price(0, 0)
    )
    return [*listed, any_file]


def _download(name: str) -> None:
    """Fetch a model of the list."""
    local = require(MODELS, LOCAL)
    if isinstance(local, Downloads):
        say(local.download(name), err=True)


async def _models(info: ProviderInfo) -> list[Listed]:
    """What a provider has, as far as that can be known."""
    names: tuple[str, ...] = ()
    usable, detail = info.usable, ""
    if not info.installed:
        detail = install(info.extra)
    elif not info.usable:
        detail = f"set {info.key}"
    else:
        try:
            names = await served(info.name, os.environ)
        except ClewError as error:
            detail = str(error)
            usable = bool(info.key)
    if not names and info.custom and usable:  # nobody knows whose models those are
        return [Listed(f"{info.name}:{ANY}", usable, detail)]
    if not names:
        names = priced_models(info.name) or (info.model or ANY,)
    return [Listed(f"{info.name}:{name}", usable, detail, price(info.name, name)) for name in names]


def _cost(of: Price | None) -> str:
    """What a million tokens cost."""
    if of is None:
        return "price unknown"
    return f"${of.input:g} in, ${of.output:g} out" if of.input or of.output else "free"
