"""AG-UI: a front end drives an agent, and is told what happens as that protocol's events.

https://docs.ag-ui.com
"""

from typing import Final

from clew_serve.agui.handler import AgentQuery, run_agent
from clew_serve.agui.run_input import RunInput
from clew_serve.endpoints import Endpoint

AGUI: Final[tuple[Endpoint, ...]] = (
    Endpoint(
        method="POST", path="/agui", role="run", handler=run_agent, query=AgentQuery,
        takes=RunInput, gives="text/event-stream", about="Run an agent over AG-UI.",
    ),
)  # fmt: skip

__all__ = ["AGUI"]
