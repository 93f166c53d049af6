"""What holds for every test: both event loops, no keys, and nothing outside a temporary folder."""

import gc
import logging
import os
import re
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from tests import gate, shares
from tests.left_out import pytest_unconfigure
from tests.postgres import database, postgres_server

__all__ = ["database", "postgres_server", "pytest_unconfigure"]  # fixtures, and a hook

# What a test may not take from the person who runs it: keys, servers, proxies, our own settings.
PERSONAL = re.compile(
    r".*_(API_KEY|API_TOKEN|BASE_URL|API_BASE)$"
    r"|(OPENAI|ANTHROPIC|AZURE|GEMINI|GOOGLE|OLLAMA|DASHSCOPE|OPENROUTER|CLEW|XDG)_.*"
    r"|(HTTP|HTTPS|ALL|NO)_PROXY",
    re.IGNORECASE,
)

# Machines that run tests are slow and busy at times, so no example has a deadline; in CI the
# examples are the same each time, at a desk they are new ones.
settings.register_profile("desk", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "desk")


# To collect makes much and drops little: looking for garbage in it takes a fifth of the time.
gc.disable()


# A shell starts what it starts with `&` deaf to Ctrl-C, and our children would be too.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# What `nohup` starts is deaf to a terminal that is closed, and so would our children be.
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(params=["asyncio", "trio"], scope="module")
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Run each async test once per event loop.

    Where an SDK runs on one only: `@pytest.mark.parametrize("anyio_backend", ["asyncio"])`.
    """
    backend: str = request.param
    return backend


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what the quick tests leave to the full check, and what that leaves to others."""
    shares.mark(items)
    gate.mark(items)


def pytest_collection_finish() -> None:
    """Look for garbage in what tests make, and not in all tests and what they import."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def homes() -> list[Path]:
    """The homes of tests; the last one is used again as long as no test leaves anything there."""
    return []


@pytest.fixture(autouse=True)
def _own_world(
    homes: list[Path], tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Give the test, and the processes it starts, an empty home, store and working directory."""
    if not homes or any(homes[-1].iterdir()):
        homes.append(tmp_path_factory.mktemp("home"))
    home = homes[-1]
    for name in filter(PERSONAL.fullmatch, list(os.environ)):
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CLEW_STORE", str(home / "store"))
    monkeypatch.chdir(home)
    logging.getLogger("clew").setLevel(logging.NOTSET)  # a command in this process may have set it
