"""The page of what waits, and its forms, as a browser sends them."""

from typing import Any, Literal, get_origin

import httpx2
import msgspec
import pytest

from clew import Tool, read
from clew import run as run_here
from clew.testing import act, finish
from clew.toolbox import HoldQuestions, ask_person
from clew_serve.endpoints import Endpoint
from clew_serve.pages import PAGES
from tests.server.parsed_page import Element, Page, parsed
from tests.server.site import ADA, BOB, EVE, RAY, Letters, Site, agent, site, writer


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """What uvicorn runs on."""
    return "asyncio"


async def inbox_of(here: Site) -> Page:
    response = await here.ask("GET", "/inbox")
    assert response.status_code == 200, response.text
    return parsed(response.text)


def fields_of(page: Page) -> tuple[Element, dict[str, str]]:
    """The first form that decides, and what a browser sends of it where nobody changes anything."""
    form = page.having("decide")[0]
    at = page.elements.index(form)
    fields: dict[str, str] = {}
    for each in page.elements[at + 1 :]:
        if "form" not in each.within:
            break
        if each.tag == "textarea":
            fields[each.attributes["name"]] = each.text.removeprefix("\n")
        elif each.tag == "input":
            fields[each.attributes["name"]] = each.attributes.get("value", "")
    return form, fields


async def submit(here: Site, form: Element, fields: dict[str, str]) -> httpx2.Response:
    url = here.url + form.attributes["action"]
    return await here.http.post(url, data=fields, headers=here.headers, follow_redirects=False)


async def held(here: Site, name: str = "writer") -> str:
    run = await here.by(ADA).begin(name)
    await here.by(ADA).until_stop(run)
    return run


@pytest.mark.parametrize(
    ("changes", "sent"),
    [
        ({"decision": "allow"}, ["Dear Ada"]),
        ({"decision": "allow", "args": '{"text": "Dear Bob"}'}, ["Dear Bob"]),
        ({"decision": "refuse", "why": "not today"}, []),
    ],
)
async def test_a_held_call_is_allowed_changed_or_refused_by_its_form(
    changes: dict[str, str], sent: list[str]
) -> None:
    letters = Letters()
    async with site(agents={"writer": writer(letters)}) as here:
        run = await held(here)
        form, fields = fields_of(await inbox_of(here.by(ADA)))
        answer = await submit(here.by(ADA), form, {**fields, **changes})
        await here.by(ADA).until_stop(run)
        after = await inbox_of(here.by(ADA))
        led = [await here.by(one).ask("GET", answer.headers["location"]) for one in (ADA, BOB)]
    assert answer.status_code == 303
    confirmed, others = [parsed(each.text) for each in led]
    assert f"/runs/{run}" in confirmed.addresses
    assert "is recorded" in confirmed.tags("main")[0].text
    assert "is recorded" not in others.tags("main")[0].text  # it is none of Bob's runs
    assert letters.sent == sent
    assert after.having("decide") == []
    ruling = (await read(run, store="runs.sqlite")).call("1.1").ruling
    assert ruling is not None
    assert (ruling.by, ruling.why) == ("ada", changes.get("why", ""))
    assert (ruling.args is None) is ("args" not in changes)


async def test_what_is_allowed_unchanged_is_what_was_held_to_the_last_hidden_letter() -> None:
    letters, odd = Letters(), "Grüße\u202e \U0001f469\u200d\U0001f4bb <b>\r\n\x00'\""
    script = [act("send", text=odd), finish("Sent.")]
    one = agent(script, [letters.tool], guards=writer(letters).guards)
    async with site(agents={"writer": one}) as here:
        run = await held(here)
        form, fields = fields_of(await inbox_of(here.by(ADA)))
        await submit(here.by(ADA), form, {**fields, "decision": "allow"})
        await here.by(ADA).until_stop(run)
    assert letters.sent == [odd]


async def test_a_form_with_arguments_that_do_not_fit_rules_nothing() -> None:
    letters = Letters()
    async with site(agents={"writer": writer(letters)}) as here:
        await held(here)
        form, fields = fields_of(await inbox_of(here.by(ADA)))
        for args in ("{", '{"text": 7}', "[]"):
            sent = await submit(here.by(ADA), form, {**fields, "decision": "allow", "args": args})
            assert sent.status_code == 422, sent.text
        foreign = await submit(here.by(BOB), form, {**fields, "decision": "allow"})
        assert foreign.status_code == 404
        assert (await inbox_of(here.by(ADA))).having("decide") != []
        assert (await inbox_of(here.by(BOB))).having("decide") == []
    assert letters.sent == []


async def test_who_may_only_look_sees_no_form() -> None:
    letters = Letters()
    await run_here(writer(letters), "Write.", store="runs.sqlite", owner="eve")
    await run_here(writer(letters), "Write.", store="runs.sqlite", owner="ray")
    async with site(agents={"writer": writer(letters)}) as here:
        looking, ruling = await inbox_of(here.by(EVE)), await inbox_of(here.by(RAY))
    async with site(agents={"writer": writer(letters)}, read_only=True) as here:
        only_shown = await inbox_of(here.by(RAY))
    for page, calls, forms in ((looking, 1, 0), (ruling, 2, 2), (only_shown, 2, 0)):
        assert [each.text for each in page.having("status-held")] == ["held"] * calls
        assert len(page.having("decide")) == forms


async def test_a_question_of_the_agent_is_answered_by_its_form() -> None:
    script = [act("ask_person", question="Which year?"), finish("So be it.")]
    asking: list[Tool] = [ask_person()]
    guards: Any = [HoldQuestions()]
    async with site(agents={"asker": agent(script, asking, guards=guards)}) as here:
        run = await held(here, "asker")
        page = await inbox_of(here.by(ADA))
        form, fields = fields_of(page)
        answer = await submit(here.by(ADA), form, {**fields, "value": "2026"})
        state = await here.by(ADA).until_stop(run)
        seen = await here.by(ADA).get(f"/api/runs/{run}/entries")
    assert answer.status_code == 303, answer.text
    assert "Which year?" in "".join(each.text for each in page.tags("pre"))
    assert state["status"] == "answered"
    assert any("2026" in str(entry) for entry in seen["entries"])


FORMS = [each for each in PAGES if each.form]


def filled_in(form: Endpoint, choice: int, text: str) -> dict[str, Any]:
    """What a browser sends of a form with the text wherever one can be typed."""
    assert form.takes is not None
    fields: dict[str, Any] = {}
    for each in msgspec.structs.fields(form.takes):
        kind = each.type.__args__[0] if get_origin(each.type) is list else each.type
        if get_origin(kind) is Literal:
            fields[each.name] = kind.__args__[choice]
        else:
            fields[each.name] = text if kind is str else "0"
    return {**fields, "before": "{}"} if "before" in fields else fields


@pytest.mark.parametrize("choice", [0, -1])
async def test_no_form_fails_at_what_is_nested_deeper_than_json_is_read(choice: int) -> None:
    deep = "[" * 20_000 + "]" * 20_000
    answers: dict[str, httpx2.Response] = {}
    async with site(agents={"writer": writer(Letters())}) as here:
        run = await held(here)
        (call,) = (await here.by(ADA).get("/api/inbox"))["held"]
        for form in FORMS:
            where = form.path.replace("{run:path}", run).replace("{call:path}", call["id"])
            answers[form.path] = await here.http.post(
                here.url + where, data=filled_in(form, choice, deep), headers=here.by(ADA).headers
            )
    assert len(answers) > 5
    assert {name: it.text for name, it in answers.items() if it.status_code >= 500} == {}
