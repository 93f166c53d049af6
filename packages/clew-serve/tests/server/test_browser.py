"""The pages in a real browser: a person's story over two browsers, and what axe says of each page.

They need the system's Chromium, and the package playwright; axe is of npm (`make .venv/.npm`).
`CLEW_SCREENSHOTS=docs/images` writes the pictures of the package's page anew.
"""

import os
import shutil
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from clew import Evidence, Observation, delegate, run, tool
from clew.testing import act, finish
from clew_serve import User
from tests.cli.shell import begin, until
from tests.patience import PATIENCE
from tests.server.evaluated import evaluated
from tests.server.site import ADA, ROOT, Letters, Site, agent, hold_letters, site
from tests.server.test_workers import AGENT
from tests.test_layers import ROOT as CHECKOUT

playwright: Any = pytest.importorskip(
    "playwright.async_api", reason="browser tests left out: playwright is not installed"
)
CHROMIUM: Final = shutil.which("chromium") or shutil.which("chromium-browser")
AXE: Final = CHECKOUT / ".venv" / "npm" / "node_modules" / "axe-core" / "axe.min.js"
PICTURES: Final = os.environ.get("CLEW_SCREENSHOTS", "")

if CHROMIUM is None:  # told at once, also where slow tests are not asked for
    pytest.skip("browser tests left out: there is no Chromium", allow_module_level=True)
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """What uvicorn and playwright run on."""
    return "asyncio"


@tool(effect="read")
async def search(query: str) -> Observation:
    """Search."""
    piece = Evidence("wiki_1", "The tower is 330 m high.", 0.9, "wikipedia")
    return Observation(content=f"One page on {query}.", evidence=(piece,))


@tool(external=True)
def sign(paper: str) -> str:
    """Sign a paper; somebody else does it."""
    raise AssertionError(paper)


def researcher(letters: Letters) -> Any:
    """An agent that looks something up, and writes a letter that a person has to allow."""
    script = [
        act("search", query="the tower"),
        act("send", text="Dear Ada, it is 300 m high."),
        act("sign", paper="the letter"),
        finish("It is 330 m high [wiki_1], and Ada knows."),
    ]
    return agent(script, [search, letters.tool, sign], guards=[hold_letters])


@asynccontextmanager
async def browser() -> AsyncGenerator[Any]:
    async with playwright.async_playwright() as played:
        opened = await played.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield opened
        finally:
            await opened.close()


async def signed_in(opened: Any, here: Site, user: User, **settings: Any) -> Any:
    """A page of a browser of its own, in which this user has signed in."""
    context = await opened.new_context(**{"viewport": {"width": 1280, "height": 800}, **settings})
    context.set_default_timeout(PATIENCE * 1000)
    page = await context.new_page()
    await page.goto(f"{here.url}/?token={user.token}")
    await page.get_by_role("heading", name="Runs").wait_for()
    return page


async def picture(page: Any, name: str) -> None:
    """Keep what the page looks like, wide and narrow, where somebody wants the pictures anew."""
    if not PICTURES:
        return
    for width in (1280, 390):
        await page.set_viewport_size({"width": width, "height": 800})
        await page.screenshot(path=Path(PICTURES) / f"serve-{name}-{width}.png")
    await page.set_viewport_size({"width": 1280, "height": 800})


async def test_a_run_begun_in_a_browser_is_ruled_on_in_another_forked_and_compared() -> None:
    letters = Letters()
    async with (
        site(agents={"researcher": researcher(letters)}) as here,
        browser() as opened,
    ):
        ada, root = await signed_in(opened, here, ADA), await signed_in(opened, here, ROOT)
        await ada.get_by_role("link", name="Start").click()
        await ada.get_by_label("Question").fill("How high is the tower? Tell Ada.")
        await ada.get_by_role("button", name="Start").click()
        await ada.locator("#status .status-held").wait_for()
        run_page = ada.url
        await root.goto(f"{here.url}/inbox")
        await picture(root, "inbox")
        await root.get_by_text("Change the arguments").click()
        await root.get_by_label("Arguments (JSON)").fill('{"text": "Dear Ada, it is 330 m high."}')
        await root.get_by_role("button", name="Allow").click()
        await ada.get_by_text("Result of 2.1 send").wait_for()  # by itself: nobody loaded it
        await ada.locator("#status .status-held").wait_for()
        await root.goto(f"{here.url}/inbox")
        await root.get_by_label("Result, as text or JSON").fill("signed by hand")
        await root.get_by_role("button", name="Send").click()
        await root.get_by_text("Waiting: 0").wait_for()
        await ada.locator("#status .status-answered").wait_for()
        assert ada.url == run_page
        assert letters.sent == ["Dear Ada, it is 330 m high."]
        await picture(ada, "run")
        await ada.get_by_role("link", name="fork here").nth(1).click()
        await ada.get_by_label("What it returned").fill("It came back.")
        await ada.get_by_role("button", name="Fork").click()
        await ada.locator("#status .status-held").wait_for()
        assert await ada.get_by_text("It came back.").count() == 1
        await ada.get_by_role("link", name="compare").click()
        await ada.get_by_text("They part in step 2: observation 2.1").wait_for()
        await picture(ada, "compare")
    assert len(letters.sent) == 1


async def test_a_killed_worker_is_followed_by_another_while_two_browsers_look_on() -> None:
    Path("keeping.py").write_text(AGENT)
    worker = ("worker", "--only", "--agent", "keeping:keeper", "--store", "runs.sqlite")
    async with (
        site(agents={"keeper": "keeping:keeper"}, work=False) as here,
        browser() as opened,
    ):
        ada, root = await signed_in(opened, here, ADA), await signed_in(opened, here, ROOT)
        await ada.get_by_role("link", name="Start").click()
        await ada.get_by_label("Question").fill("Is there a lighthouse? Write to Ada.")
        await ada.get_by_role("button", name="Start").click()
        first = begin(*worker)
        until("begun", first)
        first.send_signal(signal.SIGKILL)
        first.wait()
        Path("go").touch()
        second = begin(*worker)
        await ada.get_by_text("a lighthouse", exact=True).wait_for()  # what the other one saw
        await ada.locator("#status .status-held").wait_for()
        await root.goto(f"{here.url}/inbox")
        await root.get_by_text("Change the arguments").click()
        await root.get_by_label("Arguments (JSON)").fill('{"text": "Dear Ada, there is."}')
        await root.get_by_role("button", name="Allow").click()
        await ada.locator("#status .status-answered").wait_for()
        second.send_signal(signal.SIGTERM)
        assert second.wait() == 0
    assert Path("sent").read_text() == "Dear Ada, there is.\n"


async def violations(page: Any) -> list[str]:
    """What axe finds wrong with a page."""
    await page.evaluate(AXE.read_text("utf-8"))
    result = await page.evaluate("axe.run()")
    return [
        f"{each['id']}: {node['html'][:200]}"
        for each in result["violations"]
        for node in each["nodes"]
    ]


@pytest.mark.skipif(not AXE.exists(), reason="axe is not installed: run make .venv/.npm")
async def test_each_page_is_accessible_and_fits_a_narrow_screen_in_both_colours() -> None:
    letters = Letters()
    below = agent([act("search", query="height"), finish("330 m.")], [search])
    asks: list[Any] = [delegate(below, name="ask", description="Ask.")]
    above = agent([act("ask", task="How high?"), finish("330 m.")], asks)
    done = await run(above, "The tower?", store="runs.sqlite")
    held = await run(researcher(letters), "The tower?", store="runs.sqlite")
    await evaluated("runs.sqlite")
    paths = [
        "/", "/?text=nothing", "/start", "/inbox", "/api/docs", "/runs/nothing",
        "/evaluation", "/evaluation?configuration=1&beside=2",
        *(f"/runs/{done.run_id}{page}" for page in ("", "/prompt", "/figures", "/tree", "/fork",
                                                    "/verify")),
        f"/runs/{held.run_id}", f"/runs/{held.run_id}/compare?to={done.run_id}",
    ]  # fmt: skip
    wrong: dict[str, list[str]] = {}
    async with site(agents={"researcher": researcher(letters)}) as here, browser() as opened:
        for width, scheme in ((1280, "light"), (390, "dark"), (320, "light")):
            viewport = {"width": width, "height": 800}
            page = await signed_in(opened, here, ROOT, viewport=viewport, color_scheme=scheme)
            for path in paths:
                await page.goto(here.url + path)
                problems = await violations(page)
                if await page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                    problems.append("it is wider than the screen")
                if problems:
                    wrong[f"{path} at {width} {scheme}"] = problems
    assert wrong == {}
