"""The system's Chromium: when it first paints a page, when words are there, and its heap."""

import importlib.util
import shutil
import statistics
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple

PROGRAM: Final = shutil.which("chromium") or shutil.which("chromium-browser")
_SEEN: Final = """words => new Promise(done => {
  let seen = 0;
  const look = () => {
    const paint = performance.getEntriesByName('first-contentful-paint')[0];
    if (!seen && document.body && document.body.innerText.includes(words)) seen = performance.now();
    if (!seen || !paint) return requestAnimationFrame(look);
    const byte = performance.getEntriesByType('navigation')[0].responseStart;
    done([byte, paint.startTime, seen]);
  };
  look();
})"""


class Painted(NamedTuple):
    """Medians of milliseconds since the page was asked for, and MB of the page's heap."""

    byte: float
    paint: float
    words: float
    heap: float


def missing() -> str:
    """Why there is no browser, or ""."""
    if importlib.util.find_spec("playwright") is None:
        return "browser left out: playwright is not installed"
    return "" if PROGRAM else "browser left out: there is no Chromium"


@asynccontextmanager
async def chromium() -> AsyncGenerator[Any]:
    """A browser; there has to be one (`missing`)."""
    from playwright.async_api import async_playwright  # noqa: PLC0415 - it may not be installed

    async with async_playwright() as played:
        opened = await played.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox"])
        try:
            yield opened
        finally:
            await opened.close()


async def painted(browser: Any, link: str, url: str, words: str, times: int) -> Painted:
    """A page of which these words are seen, each time in a context that knows nothing of it.

    `link` is opened before, and signs in.
    """
    each = [await _once(browser, link, url, words) for _ in range(times + 1)][1:]
    return Painted(*(statistics.median(values) for values in zip(*each, strict=True)))


async def _once(browser: Any, link: str, url: str, words: str) -> Sequence[float]:
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    try:
        page = await context.new_page()
        if link:
            await page.goto(link)
            page = await context.new_page()
        await page.goto(url, wait_until="commit")
        byte, paint, seen = await page.evaluate(_SEEN, words)
        cdp = await context.new_cdp_session(page)
        await cdp.send("Performance.enable")
        metrics = (await cdp.send("Performance.getMetrics"))["metrics"]
        heap = next(it["value"] for it in metrics if it["name"] == "JSHeapUsedSize")
        return byte, paint, seen, heap / 1e6
    finally:
        await context.close()
