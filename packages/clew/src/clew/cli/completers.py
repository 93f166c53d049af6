"""What the shell offers when Tab is pressed.

Where something is wrong, nothing is offered: a line that is being written is no place for errors.
"""

import contextlib
import os
from collections.abc import Iterator
from functools import partial
from typing import Final

import anyio
import click
from click.shell_completion import CompletionItem

from clew import ClewError
from clew.agent_files import tool_names
from clew.cli.env_file import read_env
from clew.cli.store_option import existing
from clew.codecs import names as format_names
from clew.models import OFFLINE, available
from clew.models.catalog import priced_models
from clew.stores.listing import summary
from clew.support.printable import inert
from clew.support.run_ids import LAST, wrong_id
from clew.support.short_text import one_line
from clew.support.wings import MODELS, names

MAX_QUESTION_CHARS: Final = 60
OFFERED: Final = 500
"""So many characters of a question are shown beside its run, and so many of the last runs."""


def runs(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Runs, the last written first, with their questions; they may be meant by their end too."""
    del parameter
    items: list[CompletionItem] = []
    with contextlib.suppress(ClewError, OSError):
        read_env()
        items = anyio.run(partial(_runs, context.params.get("store")))
    if LAST.startswith(begun) and items:
        items.insert(0, CompletionItem(LAST, help="the last of them"))
    return [item for item in items if item.value.startswith(begun)]


async def _runs(store: str | None) -> list[CompletionItem]:
    async with existing(store) as opened:
        items: list[CompletionItem] = []
        for info in await opened.runs(OFFERED):
            if (run := summary(info)) is not None and not wrong_id(info.run_id):
                goal = one_line(inert(run.started.words), MAX_QUESTION_CHARS)
                items.append(CompletionItem(info.run_id, help=goal))
        return items


def models(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Models by their names: of each provider those whose price is known, or one to begin with."""
    del context, parameter
    return [CompletionItem(name) for name in _models() if name.startswith(begun)]


def _models() -> Iterator[str]:
    yield OFFLINE
    for info in available(os.environ):
        for model in priced_models(info.name) or (info.model,):
            yield f"{info.name}:{model}"


def providers(
    context: click.Context, parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Providers by their names."""
    del context, parameter
    return [CompletionItem(name) for name in names(MODELS) if name.startswith(begun)]


def tools(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """The shipped tools that the list does not have yet."""
    del context, parameter
    before, comma, last = begun.rpartition(",")
    return [
        CompletionItem(f"{before}{comma}{name}")
        for name in tool_names()
        if name.startswith(last) and name not in before.split(",")
    ]


def formats(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """The formats in which actions are written."""
    del context, parameter
    return [CompletionItem(name) for name in format_names() if name.startswith(begun)]
