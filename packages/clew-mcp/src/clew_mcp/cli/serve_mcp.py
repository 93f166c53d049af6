"""`clew mcp serve`: agents as tools of other programs."""

import importlib
import os
from dataclasses import dataclass
from functools import partial

import anyio
import click

from clew import ConfigError, __version__
from clew.cli.commands import (
    at_once_option,
    debug_option,
    say,
    serve_until_signal,
    shared_store,
    store_option,
)
from clew.workers import OnWorkerEvent

EPILOG = """\b
Examples:
  clew mcp serve support.toml
  clew mcp serve research=agents/deep.toml support.toml --at-once 4
  clew mcp serve support.toml --http 127.0.0.1:8765 --token-env CLEW_MCP_TOKEN

\b
Without --http it speaks over stdin and stdout with the program that started
it. Each call is a run: if the client leaves, the run goes on; if the server
is killed, the next one continues it. Ctrl-C lets each run finish its step; a
second Ctrl-C stops at once. Exit codes: 0, 2 usage, 130 stopped at once.
"""


@click.command("serve", epilog=EPILOG)
@click.argument("agents", metavar="AGENT...", nargs=-1, required=True)
@click.option("--http", metavar="HOST:PORT", help="Serve streamable HTTP there, at /mcp.")
@click.option(
    "--token-env",
    metavar="NAME",
    help="With --http: the variable that holds the token clients must send.  [default: a new "
    "token, printed once]",
)
@click.option("--no-token", is_flag=True, help="With --http on this machine only: ask for none.")
@click.option(
    "--allow-host",
    "hosts",
    metavar="NAME",
    multiple=True,
    help="With --http: a name by which clients reach the server, beside local ones. Repeatable.",
)
@click.option(
    "--queue", metavar="NAME", default="mcp", show_default=True, help="The queue of its runs."
)
@at_once_option
@click.option(
    "--max-question",
    metavar="N",
    type=click.IntRange(1),
    default=100_000,
    show_default=True,
    help="The characters that a question may have.",
)
@click.option(
    "--trust-questions",
    is_flag=True,
    help="Questions are a person's own words. Without it, they may be a model's: untrusted.",
)
@store_option
@debug_option
def serve_mcp(
    agents: tuple[str, ...],
    http: str | None,
    token_env: str | None,
    hosts: tuple[str, ...],
    queue: str,
    at_once: int,
    max_question: int,
    store: str | None,
    *,
    no_token: bool,
    trust_questions: bool,
) -> int:
    """Serve agents over the Model Context Protocol, each as a tool and as a task.

    AGENT is an agent file or module:name; NAME=AGENT names its tool.
    """
    if http is None and (token_env or no_token or hosts):
        message = "--token-env, --no-token and --allow-host go with --http."
        raise click.UsageError(message)
    if token_env and no_token:
        message = "give --token-env or --no-token, not both."
        raise click.UsageError(message)
    files = [agent.rpartition("=")[2] for agent in agents]
    location = shared_store(store, files)
    serving = Serving(
        agents, location, queue, at_once, max_question, http, hosts,
        trust_questions,
    )  # fmt: skip
    token = "" if http is None or no_token else _token(token_env)
    return anyio.run(serving.serve, token)


def _token(variable: str | None) -> str | None:
    """The token in the variable; None means a new one. Raises `ConfigError` if it is empty."""
    if variable is None:
        return None
    if not (token := os.environ.get(variable, "").strip()):
        message = f"the variable {variable} is not set: put the token into it"
        raise ConfigError(message)
    return token


@dataclass
class Serving:
    """The served agents, and the server's settings."""

    agents: tuple[str, ...]
    location: str
    queue: str
    at_once: int
    longest: int
    http: str | None
    hosts: tuple[str, ...]
    trusted: bool = False

    async def serve(self, token: str | None) -> int:
        """Serve until the client disconnects or a signal arrives; the exit code."""
        return await serve_until_signal(partial(self._serve, token))

    async def _serve(
        self, token: str | None, leaving: anyio.Event, on_event: OnWorkerEvent
    ) -> None:
        mcp = importlib.import_module("clew_mcp.serve")  # the SDK is dear to import
        address = None if self.http is None else mcp.HttpAddress.parse(self.http)
        made = mcp.server(
            await mcp.read_agents(self.agents, trusted=self.trusted),
            store=self.location,
            queue=self.queue,
            at_once=self.at_once,
            longest=self.longest,
            version=__version__,
            on_event=on_event,
            leaving=leaving,
        )
        if address is None:
            await mcp.serve_stdio(made, leaving=leaving)
            return
        secret = mcp.BearerToken.new() if token is None else mcp.BearerToken(token)

        def on_ready(url: str) -> None:
            say(f"clew: serving {', '.join(self.agents)} at {url}", err=True)
            if token is None:
                say(f"clew: the token of this server: {secret.value}", err=True)

        await mcp.serve_http(
            made, address, token=secret if token != "" else None,
            hosts=self.hosts, leaving=leaving, on_ready=on_ready,
        )  # fmt: skip
