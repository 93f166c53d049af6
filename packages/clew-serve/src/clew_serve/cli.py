"""`clew serve` and `clew view`: runs in a browser, and for programs."""

import importlib
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import anyio
import click
from msgspec.structs import replace

from clew.cli.commands import (
    at_once_option,
    debug_option,
    existing_store,
    queue_option,
    say,
    serve_until_signal,
    shared_store,
    store_option,
)
from clew.workers import OnWorkerEvent, WorkerEvent

_LOGGED: Final = frozenset({"failed", "refused", "lost"})

EPILOG: Final = """\b
Examples:
  clew serve
  clew serve support.toml research=agents/deep.toml
  clew serve support.toml --host 0.0.0.0 --allow-host clew.example

\b
Open the link that it prints: whoever has it may do everything. Without AGENT
it shows the runs of the store. A token file has one token, or lines
NAME ROLE TOKEN; a role is look, rule, run or admin. Users of a token file
open /?token=TOKEN, or type it into the page that asks for it. Ctrl-C lets
each run finish its step; a second Ctrl-C stops at once. Exit codes: 0,
2 usage, 5 store, 130 stopped at once.
"""


@click.command("serve", epilog=EPILOG)
@click.argument("agents", metavar="[AGENT]...", nargs=-1)
@click.option(
    "--host",
    metavar="ADDRESS",
    default="127.0.0.1",
    show_default=True,
    help="The address to listen at; with any but the default, others reach it: --allow-host too.",
)
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65_535),
    default=8722,
    show_default=True,
    help="The port; 0 is any that is free.",
)
@click.option("--token-file", metavar="FILE", type=click.Path(), help="Who may ask, by tokens.")
@click.option("--read-only", is_flag=True, help="Only show runs, and execute none.")
@click.option(
    "--no-work", is_flag=True, help="Execute no runs: workers of the queue do (`clew worker`)."
)
@click.option(
    "--allow-host",
    "allowed_hosts",
    metavar="NAME",
    multiple=True,
    help="A name by which clients reach the server, beside local ones. Repeatable.",
)
@click.option(
    "--allow-origin",
    "allowed_origins",
    metavar="URL",
    multiple=True,
    help="A site whose pages may send requests, beside the server's own. Repeatable.",
)
@click.option(
    "--proxy-header",
    metavar="NAME",
    default="",
    help="The header in which a proxy names the user; it has to send an admin's token too.",
)
@click.option(
    "--secure-cookie", is_flag=True, help="Browsers reach it over TLS: keep the cookie to that."
)
@click.option("--open-health", is_flag=True, help="Answer /healthz and /readyz without a token.")
@click.option("--on-held", metavar="CMD|URL", default="", help="Whom to tell of a held run.")
@click.option("--day-cost", metavar="USD", type=float, help="What the queue may spend in a day.")
@click.option("--day-tokens", metavar="N", type=int, help="The same, in tokens.")
@click.option(
    "--accept-change",
    is_flag=True,
    help="Continue runs of an earlier form of an agent with that which is nearest.",
)
@queue_option
@at_once_option
@store_option
@debug_option
def serve(
    agents: tuple[str, ...],
    store: str | None,
    token_file: str | None,
    *,
    no_work: bool,
    **settings: Any,
) -> int:
    """Serve the runs of a store over HTTP, and execute those that are begun there.

    AGENT is an agent file or module:name; NAME=AGENT names it. No other agents are executed.
    """
    package = importlib.import_module("clew_serve")  # the server is dear to import
    served = importlib.import_module("clew_serve.agents").names_of(agents)
    location = shared_store(store, served.values())
    users = package.read_users(Path(token_file)) if token_file else ()
    config = package.ServeConfig(
        store=location, agents=served, users=users, work=not no_work, **settings
    )

    def on_ready(link: str) -> None:
        what = ", ".join(config.agents) or "the runs of the store"
        say(f"clew: serving {what}: {link}", err=True)

    return anyio.run(_serve, package.serve, config, location, on_ready)


async def _serve(serve_it: Any, config: Any, location: str, on_ready: Callable[[str], None]) -> int:
    if not config.agents or config.read_only:  # what only shows runs makes no store
        async with existing_store(location):
            pass

    async def work(leaving: anyio.Event, on_event: OnWorkerEvent) -> None:
        def once(event: WorkerEvent) -> None:  # the worker's log has told why, in a line
            on_event(replace(event, what="left") if event.what in _LOGGED else event)

        await serve_it(config, leaving=leaving, on_ready=on_ready, on_event=once)

    return await serve_until_signal(work)


VIEW_EPILOG: Final = """\b
Examples:
  clew view
  clew view runs.sqlite
  clew view --no-browser --port 8723

\b
Nobody can change anything there, and whoever has the link that it prints can
see everything. It is for this machine alone: `clew serve --read-only` is for
others. Ctrl-C ends it. Exit codes: 0, 2 usage, 5 store.
"""


@click.command("view", epilog=VIEW_EPILOG)
@click.argument("location", metavar="[STORE]", required=False)
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65_535),
    default=0,
    help="The port.  [default: any that is free]",
)
@click.option("--no-browser", is_flag=True, help="Only print the link, and open no browser.")
@store_option
@debug_option
def view(location: str | None, store: str | None, port: int, *, no_browser: bool) -> int:
    """Look at the runs of STORE in a browser."""
    if location is not None and (store or not location):
        raise click.UsageError("name one store: `clew view STORE`, or with --store.")
    package = importlib.import_module("clew_serve")
    shared = shared_store(location or store)
    config = package.ServeConfig(store=shared, port=port, read_only=True)

    def on_ready(link: str) -> None:
        say(link)
        if not no_browser:  # one in a terminal ends when it is left
            threading.Thread(target=webbrowser.open, args=(link,), daemon=True).start()

    return anyio.run(_serve, package.serve, config, shared, on_ready)
