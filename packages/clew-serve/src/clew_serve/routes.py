"""The one table: every route with its method, role, and what it takes and gives.

The router, the API's document and the tests of who may what are made of it. The more special path
comes first: the id of a run may have slashes.
"""

from collections.abc import Iterable
from typing import Final

from clew.operations import CONTENT_TYPE
from clew_serve.agui import AGUI
from clew_serve.api import (
    agents,
    decisions,
    documents,
    entries,
    evaluation,
    events,
    figures,
    inbox,
    prompts,
    runs,
    steering,
    trees,
)
from clew_serve.endpoints import Endpoint, RouteTable
from clew_serve.health import live, metrics, ready
from clew_serve.openai_front import OPENAI, OPENAI_PATHS, failure
from clew_serve.pages import PAGES

_RUN: Final = "/api/runs/{run:path}"

API: Final[tuple[Endpoint, ...]] = (
    Endpoint(
        method="GET", path="/api/agents", role="look", handler=agents.get,
        gives=agents.AgentList, about="The agents that are served.",
    ),
    Endpoint(
        method="GET", path="/api/inbox", role="look", handler=inbox.get,
        gives=inbox.Inbox, about="What waits for a person, and what went wrong.",
    ),
    Endpoint(
        method="GET", path="/api/evaluation", role="admin", handler=evaluation.get,
        query=evaluation.EvaluationQuery, gives=evaluation.EvaluationPage,
        about="The evaluation in the store, and a page of its trials.",
    ),
    Endpoint(
        method="GET", path="/api/runs", role="look", handler=runs.list_page,
        query=runs.RunQuery, gives=runs.RunPage, about="The runs, last written first.",
    ),
    Endpoint(
        method="POST", path="/api/runs", role="run", handler=runs.begin, status=201,
        takes=runs.NewRun, gives=runs.BegunRun, about="Begin a run.",
    ),
    Endpoint(
        method="GET", path=f"{_RUN}/entries", role="look", handler=entries.get,
        reviews=True,
        query=entries.EntryQuery, gives=entries.EntryPage, about="A page of a run's entries.",
    ),
    Endpoint(
        method="GET", path=f"{_RUN}/events", role="look", handler=events.get,
        query=events.EventQuery, gives="text/event-stream", about="A run as it happens.",
    ),
    Endpoint(
        method="GET", path=f"{_RUN}/prompt", role="look", handler=prompts.get,
        query=prompts.PromptQuery, gives=prompts.SentPrompt,
        about="The prompt of a step, and what was left out of it.",
    ),
    Endpoint(
        method="GET", path=f"{_RUN}/figures", role="look", handler=figures.get,
        gives=figures.RunFigures, about="What a run took, step by step.",
    ),
    Endpoint(
        method="GET", path=f"{_RUN}/tree", role="look", handler=trees.get,
        gives=trees.TreeRun, about="A run with the runs below it.",
    ),
    Endpoint(
        method="GET", path=f"{_RUN}/export", role="look", handler=entries.export,
        gives=entries.LINES, about="A run as a trace, to keep.",
    ),
    Endpoint(
        method="POST", path=f"{_RUN}/words", role="run", handler=steering.say,
        takes=steering.Words, gives=steering.Done, about="Say something to a run.",
    ),
    Endpoint(
        method="POST", path=f"{_RUN}/cancel", role="run", handler=steering.end,
        takes=steering.Cancelling, gives=steering.Done, about="Ask a run to stop.",
    ),
    Endpoint(
        method="POST", path=f"{_RUN}/forks", role="run", handler=steering.fork, status=201,
        takes=steering.Fork, gives=runs.BegunRun, about="Begin a run with another's first steps.",
    ),
    Endpoint(
        method="POST", path=f"{_RUN}/rewind", role="run", handler=steering.take_back,
        takes=steering.Rewinding, gives=steering.Done, about="Take a wrong branch out of view.",
    ),
    Endpoint(
        method="GET", path=_RUN, role="look", handler=runs.get,
        reviews=True,
        gives=runs.Run, about="A run as it is now.",
    ),
    Endpoint(
        method="POST", path="/api/rulings/{call:path}", role="rule", handler=decisions.give_ruling,
        reviews=True,
        takes=decisions.RulingBody, gives=steering.Done, about="Allow a held call, or refuse it.",
    ),
    Endpoint(
        method="POST", path="/api/answers/{call:path}", role="rule", handler=decisions.give_answer,
        reviews=True,
        takes=decisions.AnswerBody, gives=steering.Done,
        about="Answer a question, or give the result of a call that others perform.",
    ),
    Endpoint(
        method="POST", path="/api/settlings/{call:path}", role="rule",
        handler=decisions.give_outcome, takes=decisions.SettlingBody, gives=steering.Done,
        reviews=True, about="Say whether a call of unknown outcome was done.",
    ),
    Endpoint(
        method="GET", path="/healthz", role="look", handler=live,
        gives="text/plain", about="Whether the server lives.",
    ),
    Endpoint(
        method="GET", path="/readyz", role="look", handler=ready,
        gives="text/plain", about="Whether its store and its worker work.",
    ),
    Endpoint(
        method="GET", path="/metrics", role="admin", handler=metrics,
        gives=CONTENT_TYPE, about="Figures for Prometheus.",
    ),
)  # fmt: skip


def route_table(further: Iterable[Endpoint] = ()) -> RouteTable:
    """The table of a server: the API, the pages, and `further` endpoints, such as of a protocol."""
    known = (*API, *OPENAI, *AGUI, *PAGES, *further)
    return RouteTable((*known, *documents.endpoints(known)), {OPENAI_PATHS: failure})
