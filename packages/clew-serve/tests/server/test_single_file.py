"""`clew show --html`: a run as one file, which leads nowhere and loads nothing."""

import base64
import hashlib
import stat
from pathlib import Path
from typing import Final

import pytest

from clew import Agent, Evidence, Image, MemoryStore, Observation, SqliteStore, delegate, tool
from clew import run as run_here
from clew.interfaces import Store
from clew.testing import ScriptedModel, act, finish
from clew_serve.pages.single_file import single_file
from tests.cli.shell import clew
from tests.server.parsed_page import Page, parsed
from tests.server.site import agent
from tests.server.test_hostile_pages import (
    HARMLESS,
    events,
    invisible,
    outline,
    payloads,
)
from tests.server.written_runs import started, thought, write

PNG: Final = b"\x89PNG\r\n\x1a\n" + bytes(20)
LONG: Final = "long " * 20_000
INSIDE: Final = ("#", "data:image/png;base64,")


@tool(effect="read")
async def search(query: str) -> Observation:
    """Search."""
    return Observation(
        content=LONG + query,
        evidence=(Evidence("wiki_1", "It is 330 m high.", 0.9, "wikipedia"),),
        attachments=(Image("image/png", PNG, "a tower"), Image("image/svg+xml", b"<svg/>")),
    )


async def text_of(store: Store, run_id: str) -> str:
    return b"".join([piece async for piece in single_file(store, run_id)]).decode()


def leads_nowhere(page: Page) -> None:
    """It has no script, and each address is in the file itself."""
    tags = {each.tag for each in page.elements}
    assert not tags & {"script", "link", "iframe", "object", "form", "base"}
    assert all(each.startswith(INSIDE) for each in page.addresses), page.addresses
    names = {name for each in page.elements for name in each.attributes}
    assert not [name for name in names if name.startswith(("on", "hx-")) or name == "style"]


def policy_of(page: Page) -> str:
    (meta,) = [
        it
        for it in page.tags("meta")
        if it.attributes.get("http-equiv") == "content-security-policy"
    ]
    return meta.attributes["content"]


async def test_a_file_has_the_run_with_its_pictures_and_its_style_and_leads_nowhere() -> None:
    store = MemoryStore()
    answer = "330 m [wiki_1], some say [wiki_9]."
    one = agent([act("search", query="tower"), finish(answer)], [search])
    result = await run_here(one, "How high?", store=store)
    text = await text_of(store, result.run_id)
    page = parsed(text)
    leads_nowhere(page)
    (style,) = page.tags("style")
    sum_of_it = base64.b64encode(hashlib.sha256(style.text.encode()).digest()).decode()
    assert policy_of(page).startswith(f"default-src 'none'; style-src 'sha256-{sum_of_it}';")
    (picture,) = page.tags("img")
    data = picture.attributes["src"].removeprefix("data:image/png;base64,")
    assert base64.b64decode(data) == PNG
    assert any(LONG.strip() in each.text for each in page.tags("pre"))
    assert page.having("cut") == []
    known = page.having("known")
    assert [page.by_id(each.attributes["href"][1:]).tag for each in known] == ["li"] * len(known)
    assert known


async def test_a_long_run_is_in_its_file_from_the_first_entry_to_the_last() -> None:
    store = MemoryStore()
    await write(store, "long", [started(), *(thought(f"number {it}") for it in range(300))])
    page = parsed(await text_of(store, "long"))
    ids = [each.attributes["id"] for each in page.having("entry")]
    assert ids == [f"entry-{number}" for number in range(1, 302)]


async def test_a_run_below_is_named_and_one_from_outside_is_marked() -> None:
    store = MemoryStore()
    below = Agent(ScriptedModel([finish("Done.")]))
    above = Agent(
        ScriptedModel([act("helper", task="this"), finish("It is.")]),
        [delegate(below, name="helper", description="Help.")],
    )
    result = await run_here(above, "Well?", store=store)
    page = parsed(await text_of(store, result.run_id))
    assert f"{result.run_id}-1.1" in [each.text for each in page.tags("code")]
    assert page.having("doubtful") == []
    leads_nowhere(page)


def test_the_command_writes_a_new_file_that_only_its_owner_reads() -> None:
    assert clew("ask", "17 * 23?", "--model", "offline", "--store", "runs.sqlite").code == 0
    done = clew("show", "last", "--html", "run.html", "--store", "runs.sqlite")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("run.html has run ")
    path = Path("run.html")
    assert "391" in parsed(path.read_text("utf-8")).having("answer")[-1].text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    piped = clew("show", "last", "--html", "-", "--store", "runs.sqlite")
    assert (piped.code, piped.out, piped.err) == (0, path.read_text("utf-8"), "")


def test_a_run_from_elsewhere_is_marked_in_its_file() -> None:
    assert clew("ask", "17 * 23?", "--model", "offline", "--store", "theirs.sqlite").code == 0
    assert clew("records", "export", "--archive", "a.jsonl", "--store", "theirs.sqlite").code == 0
    assert clew("records", "import", "a.jsonl", "--store", "ours.sqlite").code == 0
    assert clew("show", "last", "--html", "run.html", "--store", "ours.sqlite").code == 0
    page = parsed(Path("run.html").read_text("utf-8"))
    assert [each.text for each in page.having("doubtful")] == ["from outside"]


@pytest.mark.parametrize(
    ("more", "code", "words"),
    [
        (["last", "--html", "there.html"], 2, "is there already"),
        (["last", "--html", "no/such/run.html"], 2, "cannot be written"),
        (["last", "--html", ""], 2, "it is empty"),
        (["last", "--html", "new.html", "--json"], 2, "--html goes with no other form"),
        (["last", "--html", "new.html", "--step", "1"], 2, "--html goes with no other form"),
        (["nobody", "--html", "new.html"], 2, "there is no run 'nobody'"),
    ],
)
def test_what_is_in_the_way_of_a_file_is_one_line_and_leaves_none(
    more: list[str], code: int, words: str
) -> None:
    Path("there.html").write_text("mine")
    SqliteStore("runs.sqlite")
    if more[0] == "last":
        assert clew("ask", "17 * 23?", "--model", "offline", "--store", "runs.sqlite").code == 0
    done = clew("show", *more, "--store", "runs.sqlite")
    assert (done.code, done.out, done.err.count("\n")) == (code, "", 1)
    assert words in done.err
    assert Path("there.html").read_text() == "mine"
    assert [path.name for path in Path().glob("*.html*")] == ["there.html"]


async def hostile(text: str) -> str:
    """The file of a run with a text in every field."""
    store = MemoryStore()
    await write(store, "hostile", events(text))
    return await text_of(store, "hostile")


@pytest.mark.slow
async def test_no_payload_in_any_field_of_a_file_is_more_than_text() -> None:
    every = sorted(payloads(), key=len)
    tried = [each for each in every if len(each) < 1_000]
    tried.append(every[len(tried)])
    expected = [*outline(parsed(await hostile(HARMLESS)))]
    for payload in tried:
        text = await hostile(payload)
        page = parsed(text)
        assert [*outline(page)] == expected, payload[:100]
        assert invisible(text) == [], payload[:100]
        leads_nowhere(page)
        assert "sha256-" in policy_of(page)
