"""The page of an evaluation: each trial a click from its run, filters, two configurations."""

import sqlite3
from contextlib import closing

import pytest

from clew.interfaces import encode
from clew.stores import store_at
from clew_evals import About, Case, Outcome, Results
from clew_evals.results import ResultsHeader, Row
from tests.server.evaluated import CASES, evaluated
from tests.server.parsed_page import Page, parsed
from tests.server.site import ADA, ROOT, Site, site

FILE = "gold.sqlite"


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """What uvicorn runs on."""
    return "asyncio"


async def page_of(here: Site, path: str) -> Page:
    response = await here.ask("GET", path)
    assert response.status_code == 200, response.text
    return parsed(response.text)


def items(page: Page) -> list[str]:
    return [it.text for it in page.having("item")]


async def test_each_outcome_is_a_click_from_its_run_and_is_filtered() -> None:
    await evaluated(FILE)
    async with site(store=FILE, read_only=True) as here:
        root = here.by(ROOT)
        first = await page_of(root, "/")
        page = await page_of(root, "/evaluation")
        runs = [it.attributes["href"] for it in page.having("item")]
        opened = [await page_of(root, run) for run in runs]
        failed = await page_of(root, "/evaluation?failure=any&configuration=1")
        wrong = await page_of(root, "/evaluation?failure=wrong%20answer&category=1")
        refused = await here.by(ADA).ask("GET", "/evaluation")
        none = await root.ask("GET", "/evaluation?configuration=9")
    assert "/evaluation" in first.addresses
    assert items(page) == ["sum", "product", "capital"] * 2
    assert [it.tags("h1")[0].text for it in opened] == [case.question for case in CASES] * 2
    assert items(failed) == ["capital"]
    assert items(wrong) == ["product"]
    assert "expected" in wrong.having("runs")[0].text
    (table,) = page.tags("tbody")
    assert "66.7%" in table.text
    assert (refused.status_code, none.status_code) == (403, 422)
    assert "there is no configuration 9" in none.text


async def test_two_configurations_stand_side_by_side_where_they_differ() -> None:
    await evaluated(FILE)
    async with site(store=FILE) as here:
        root = here.by(ROOT)
        page = await page_of(root, "/evaluation?configuration=1&beside=2")
        every = await root.get("/api/evaluation?configuration=1&beside=2&alike=yes&category=1")
        alone = await root.ask("GET", "/evaluation?beside=2")
    (pair,) = page.having("entry")
    assert "2 * 3?" in pair.text
    assert len([it for it in page.addresses if "product" in it]) == 2
    counts = "Both passed 1, only the left one 1, only the right one 0, neither 1."
    assert counts in page.tags("main")[0].text
    told = [(it["case"], it["left"]["passed"], it["right"]["passed"]) for it in every["pairs"]]
    assert told == [("sum", True, True), ("product", True, False)]
    assert alone.status_code == 422


def write_outcomes(number: int) -> None:
    """An evaluation of so many trials, as `clew eval run` keeps it."""
    cases = tuple(Case(f"case-{at}", f"{at}?", str(at), "numbers") for at in range(number))
    about = About("huge", "cases", "", cases, ("one",), ("m",))
    results = Results.begin(FILE, ResultsHeader(about))
    results.close()
    rows = [
        Row(Outcome(case.id, "one", "m", f"run-{case.id}", "answered", "numbers", right=at > 0))
        for at, case in enumerate(cases)
    ]
    with closing(sqlite3.connect(FILE)) as opened, opened:
        opened.executemany(
            "INSERT INTO outcomes VALUES (?, 0, NULL, ?)",
            [(row.outcome.run_id, encode(row.outcome)) for row in rows],
        )


async def test_ten_thousand_outcomes_come_in_pages_all_of_which_are_reached() -> None:
    async with store_at(FILE):
        write_outcomes(10_000)
    async with site(store=FILE) as here:
        page = await page_of(here.by(ROOT), "/evaluation?failure=passed&limit=1000")
        reached = items(page)
        while more := [it.attributes["href"] for it in page.having("next")]:
            page = await page_of(here.by(ROOT), more[0])
            reached += items(page)
    assert reached == [f"case-{at}" for at in range(1, 10_000)]


async def test_a_store_without_an_evaluation_and_one_that_is_broken_say_so_in_a_line() -> None:
    async with site() as here:
        empty = await page_of(here.by(ROOT), "/evaluation")
        first = await page_of(here.by(ROOT), "/")
    assert "This store has no evaluation. `clew eval run` writes" in empty.tags("main")[0].text
    assert "/evaluation" not in first.addresses
    async with store_at(FILE):
        write_outcomes(0)
    async with site(store=FILE) as here:
        page = await page_of(here.by(ROOT), "/evaluation")
        with closing(sqlite3.connect(FILE)) as opened, opened:
            opened.execute("INSERT INTO outcomes VALUES ('r', 0, NULL, X'7B')")
        broken = await here.by(ROOT).ask("GET", "/evaluation", accept="text/html")
    assert "0 trials." in page.tags("main")[0].text
    assert broken.status_code == 500
    assert f"{FILE} is damaged, or was changed by others" in broken.text
