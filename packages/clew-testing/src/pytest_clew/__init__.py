"""The pytest plugin of clew-testing: fixtures for tests of agents.

It stands outside of `clew_testing`, and its fixtures load clew when a test asks for one: pytest
loads plugins before it measures what tests cover.
"""

from collections.abc import Callable, Generator, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest

__all__ = [
    "clew_cassette",
    "clew_model",
    "clew_run",
    "clew_store",
    "pytest_addoption",
    "pytest_runtest_call",
]

CHECKS: Final = pytest.StashKey[list[Callable[[], None]]]()
"""What is looked at when the test itself has passed: what is wrong then is its failure."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--clew-record`."""
    parser.getgroup("clew").addoption(
        "--clew-record",
        action="store_true",
        help="ask the real models of clew_cassette, and write their replies into cassettes/",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that passed, where a fixture has something against it."""
    outcome = yield
    for check in item.stash.get(CHECKS, list[Callable[[], None]]()):
        check()
    return outcome


@pytest.fixture
def clew_store(tmp_path: Path) -> Iterator[Any]:
    """A `SqliteStore` in a temporary folder."""
    clew = import_module("clew")
    store = clew.SqliteStore(tmp_path / "runs.sqlite")
    yield store
    import_module("clew.concurrency.portal").wait_for(store.close)


@pytest.fixture
def clew_model(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """`clew_model(*lines, **options)` is a `ScriptedModel` whose whole script must be played."""
    checks = request.node.stash.setdefault(CHECKS, [])

    def scripted(*lines: Any, **options: Any) -> Any:
        script = import_module("pytest_clew.scripts").Script(lines)
        checks.append(script.check)
        return script.model(**options)

    return scripted


@pytest.fixture
def clew_run(clew_store: Any) -> Callable[..., Any]:
    """`clew_run(agent, question, **options)` runs to its end in `clew_store`: a `RecordedRun`.

    The options are those of `clew.run`. It needs no event loop, and works beside one.
    """
    recorded: Callable[..., Any] = import_module("pytest_clew.runs").recorded_run

    def run(agent: Any, question: Any, **options: Any) -> Any:
        return recorded(agent, question, clew_store, **options)

    return run


@pytest.fixture
def clew_cassette(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """`clew_cassette(model)` is a model whose replies were recorded, in `cassettes/` by the test.

    `model` is a name ("openai:gpt-4.1-mini") or a model; options go to `clew.models.resolve`. With
    `--clew-record` the real one is asked. In the file the test's `tmp_path` is "<tmp_path>".
    """
    names = import_module("pytest_clew.cassette_names")
    path = names.cassette_of(request.node)
    cassettes = import_module("pytest_clew.cassettes")
    record = bool(request.config.getoption("--clew-record"))
    if record:
        names.refuse_a_second_writer(request.node, path)
    session = cassettes.Session(path, record, {"<tmp_path>": str(tmp_path)})
    request.node.stash.setdefault(CHECKS, []).append(session.check)
    yield session.model
    session.end()
