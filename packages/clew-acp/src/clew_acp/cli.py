"""`clew acp AGENT`: an agent in an editor."""

import asyncio
import signal
import sys

import anyio
import click

from clew.agent_files import agent_named, read_agent_file
from clew.cli.commands import debug_option, store_option
from clew_acp.server import serve
from clew_acp.transport import own_stdio

EPILOG = """\b
Examples:
  clew acp coder.toml
  clew acp agents:coder --store ~/sessions.sqlite

\b
An editor starts it, and speaks with it over stdin and stdout. Each session is
a run: if this process is killed, the next one goes on with it. What tools
print goes to stderr. Ctrl-C and SIGTERM let an effect that has begun end,
and leave the run open. Exit codes: 0, 2 usage.
"""


@click.command("acp", epilog=EPILOG)
@click.argument("agent")
@click.option(
    "--accept-change", is_flag=True, help="Go on with sessions though AGENT has changed since."
)
@store_option
@debug_option
def acp(agent: str, store: str | None, *, accept_change: bool) -> int:
    """Let an editor drive an agent (Agent Client Protocol).

    AGENT is an agent file or module:name.
    """
    if store is None and agent.endswith(".toml"):
        store = read_agent_file(agent).store or None
    anyio.run(_serve, agent, store, accept_change)
    return 0


async def _serve(name: str, store: str | None, accept_change: bool) -> None:  # noqa: FBT001 - anyio.run gives arguments by position
    transport = await own_stdio()
    for number in (signal.SIGINT, signal.SIGTERM):
        if sys.platform != "win32":  # its event loop takes no signals
            asyncio.get_running_loop().add_signal_handler(number, transport.leave)
    agent, origin = await agent_named(name)
    await serve(
        agent, transport, store=store or agent.store, origin=origin, accept_change=accept_change
    )
