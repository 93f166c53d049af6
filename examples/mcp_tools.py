"""Use the tools of a server of the Model Context Protocol, which runs as a program of its own.

A scripted demonstration: a script plays the model, and the server is real. Needs `make install
WITH=mcp`. Prints:

    (a script plays the model)
    weather_forecast, unsafe until you say otherwise
    rain in Oslo
    answered: Take an umbrella.
"""

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import anyio

from clew import Agent, MemoryStore, read, run
from clew.testing import ScriptedModel, act, finish

try:
    from clew_mcp import McpServer, mcp_tools
except ModuleNotFoundError as missing:
    raise SystemExit(f"{missing}: run make install WITH=mcp") from missing

SERVER = '''
from mcp.server.mcpserver import MCPServer

server = MCPServer("weather", version="1")

@server.tool()
def forecast(city: str) -> str:
    """The weather of tomorrow."""
    return f"rain in {city}"

server.run()
'''


async def main() -> None:
    print("(a script plays the model)")
    folder = Path(tempfile.mkdtemp())
    (folder / "server.py").write_text(SERVER)
    weather = McpServer(name="weather", command=sys.executable, args=(str(folder / "server.py"),))
    (forecast,) = await mcp_tools(weather, pins=folder / "pins.json")
    print(f"{forecast.name}, {forecast.effect} until you say otherwise")
    model = ScriptedModel([act("weather_forecast", city="Oslo"), finish("Take an umbrella.")])
    agent = Agent(model, tools=[replace(forecast, effect="read")])
    store = MemoryStore()
    result = await run(agent, "Do I need an umbrella in Oslo?", store=store)
    (call, *_) = (await read(result.run_id, store=store)).calls
    print(call.observation.text if call.observation else "")
    print(f"{result.status}: {result.answer}")


if __name__ == "__main__":
    anyio.run(main)
