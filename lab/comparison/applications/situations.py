"""What happens to the support agent of each framework, served and killed.

The same driver plays the same situations against the same model over HTTP, with real processes that
are killed. It prints a table of what came of each situation.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from comparison.applications.model_server import WORDS, ModelServer
from comparison.applications.served import Event, Served
from live.others.systems import ENVIRONMENTS, System, python_of, versions
from live.tables import table

WEB: Final = ("fastapi", "uvicorn")
OTHERS: Final = {
    "Pydantic AI": System(
        "Pydantic AI",
        ("pydantic-ai-slim[openai]", "pydantic-ai-harness", *WEB),
        "support_pydantic_ai",
    ),
    "LangGraph": System(
        "LangGraph",
        ("langgraph", "langchain", "langchain-openai", "langgraph-checkpoint-sqlite", *WEB),
        "support_langgraph",
    ),
}
APPROVALS: Final = "/approvals"


def killed(app: Served) -> str:
    """The process dies after the refund, before anybody heard of it; it is started and asked on."""
    run = _die(app)
    events = _go_on(app, run)
    return f"{len(app.payments)} paid; {_told(events)}"


def two_continue(app: Served) -> str:
    """The same, and two requests ask at once that it goes on."""
    run = _die(app)
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: _go_on(app, run), range(2)))
    return f"{len(app.payments)} paid; {_status(both[0])}, {_status(both[1])}"


def wrong_argument(app: Served) -> str:
    """The model writes an amount in words, and then as a number."""
    _ask(app, "A wrong refund")
    asked = [_find(one, "amount") for one in app.get(APPROVALS)]
    return "a person is asked about it" if "thirty" in asked else "refused before a person is asked"


def two_approvals(app: Served) -> str:
    """Two refunds in one reply: the first is allowed, the second is not."""
    _ask(app, "Refund both")
    first, second = sorted(app.get(APPROVALS), key=lambda one: str(_find(one, "order")))
    _rule(app, first, allow=True)
    alone = len(app.payments)
    events = _rule(app, second, allow=False)
    made = [line.split()[1] for line in app.payments]
    verdict = "each alone" if alone == 1 and made == ["A7"] else ""
    waits = "the first waits for the second" if alone == 0 and made == ["A7"] else ""
    return f"{verdict or waits or f'paid {made}'}; {_status(events)}"


def hangs(app: Served) -> str:
    """The provider never answers; three seconds are allowed."""
    _, events = _ask(app, "Hang")
    first, last = events[0][0], events[-1][0]
    early = "within a second" if first < 1 else f"after {first:.1f} s"
    late = f"{last:.0f} s"
    return f"first event {early}, end after {late}: {_status(events)}"


def streams(app: Served) -> str:
    """A typed answer comes slowly; how many events had a part of its text."""
    _, events = _ask(app, "Explain the delay")
    parts = sum(any(_is_part(text) for text in _texts(data)) for _, _, data in events)
    return f"{parts} parts, then {_status(events)}" if parts else "nothing before its end"


def comes_back(app: Served) -> str:
    """Another request asks for what came after the first event, also once the process died."""
    run, events = _ask(app, "Refund A7")
    app.process.kill()
    app.restart()
    _, rest = app.events("GET", f"/runs/{run}/events", after=events[0][1])
    return "what came after" if rest and _status(rest) == "held" else "not all"


SITUATIONS: Final[Mapping[str, Callable[[Served], str]]] = {
    "killed after the refund, then asked on": killed,
    "the same, two ask at once": two_continue,
    "a wrong argument": wrong_argument,
    "two approvals, one yes and one no": two_approvals,
    "the provider hangs, 3 s allowed": hangs,
    "a typed answer, slowly": streams,
    "the stream from another request": comes_back,
}


def _ask(app: Served, text: str) -> tuple[str, list[Event]]:
    return app.events("POST", "/ask", {"text": text})


def _rule(app: Served, one: Any, *, allow: bool) -> list[Event]:
    return app.events("POST", f"{APPROVALS}/{one['id']}", {"allow": allow})[1]


def _die(app: Served) -> str:
    """A run whose process died in an approved refund, once that was paid; it is started again."""
    run, _ = _ask(app, "Refund A7")
    (app.folder / "kill").touch()
    _rule(app, app.get(APPROVALS)[0], allow=True)
    app.restart()
    return run


def _go_on(app: Served, run: str) -> list[Event]:
    """Ask that a run goes on; where that is no request, because it does by itself, look at it."""
    _, events = app.events("POST", f"/runs/{run}/continue")
    return app.events("GET", f"/runs/{run}/events")[1] if "detail" in events[-1][2] else events


def _find(value: Any, name: str) -> Any:
    """The first value of a name in a document, at any depth."""
    if isinstance(value, dict):
        if name in value:
            return value[name]
        value = list(value.values())
    if isinstance(value, list):
        return next((inner for each in value if (inner := _find(each, name)) is not None), None)
    return None


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


def _is_part(text: str) -> bool:
    return 2 < len(text.strip()) < len(WORDS) and text.strip(' "{}:,') in WORDS


def _status(events: list[Event]) -> str:
    """How the stream says that it ended."""
    statuses = [match for _, _, data in events if (match := _find(data, "status"))]
    return str(statuses[-1]) if statuses else "broken off"


def _told(events: list[Event]) -> str:
    """How it ended, and whether a reader of the stream hears of the open question."""
    unknown = any(
        "unknown" in text or "may " in text for _, _, data in events for text in _texts(data)
    )
    return f"{_status(events)}, {'said to be unknown' if unknown else 'told as paid once'}"


def played(python: Path, program: str) -> list[str]:
    """What came of each situation, each in a folder and a process of its own."""
    outcomes: list[str] = []
    for play in SITUATIONS.values():
        with (
            tempfile.TemporaryDirectory() as folder,
            ModelServer() as model,
            Served(python, program, Path(folder), model.address) as app,
        ):
            outcomes.append(play(app))
    return outcomes


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--environments", type=Path, default=ENVIRONMENTS)
    args = options.parse_args()
    pythons = {"clew": (Path(sys.executable), "support_clew")}
    for name, system in OTHERS.items():
        pythons[name] = (python_of(system, args.environments), system.program)
    columns = {name: played(*where) for name, where in pythons.items()}
    print(*(versions(system, args.environments) for system in OTHERS.values()), sep="; ")
    print()
    rows = [
        [name, *(column[at] for column in columns.values())] for at, name in enumerate(SITUATIONS)
    ]
    print(table(("situation", *columns), rows))


if __name__ == "__main__":
    main()
