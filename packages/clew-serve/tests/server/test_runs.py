"""A run from its beginning to its end, as a client of the API has it."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from clew import Agent, ConfigError, RunContext, tool
from clew import run as run_here
from clew.retention import read_trace
from clew.testing import act, finish
from clew_serve import ServeConfig, application
from tests.server.site import ADA, BOB, ROOT, Letters, agent, greeter, site, writer


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """What uvicorn runs on."""
    return "asyncio"


async def test_a_run_is_begun_followed_and_read() -> None:
    async with site(agents={"greeter": greeter()}) as here:
        ada = here.by(ADA)
        run = await ada.begin("greeter", "Hello?", labels={"topic": "greeting"})
        events = [event async for event in ada.events(run)]
        state = await ada.get(f"/api/runs/{run}")
        page = await ada.get(f"/api/runs/{run}/entries?after=1&limit=1")
        trace = (await ada.ask("GET", f"/api/runs/{run}/export")).content.splitlines()
    assert [event.id for event in events if event.kind == "Entry"] == ["1", "2", "3", "4"]
    assert (state["status"], state["answer"], state["owner"]) == ("answered", "Hello.", "ada")
    assert (state["agent"], state["question"]) == ("greeter", "Hello?")
    assert [entry["seq"] for entry in page["entries"]] == [2]
    assert (page["last"], read_trace(trace).goal) == (4, "Hello?")


async def test_a_request_that_comes_twice_is_one_run_and_with_other_words_it_is_refused() -> None:
    async with site(agents={"greeter": greeter()}) as here:
        ada = here.by(ADA)
        run = await ada.begin("greeter", "Hello?", request="r1")
        assert await ada.begin("greeter", "Hello?", request="r1") == run
        assert await here.by(BOB).begin("greeter", "Hello?", request="r1") != run
        other = {"agent": "greeter", "question": "Bye?", "request": "r1"}
        answer = await ada.ask("POST", "/api/runs", other)
        assert (answer.status_code, answer.json()["error"]) == (422, "invalid")


async def test_runs_are_listed_in_pages_by_status_label_and_text() -> None:
    async with site(agents={"greeter": greeter(), "writer": writer(Letters())}) as here:
        ada = here.by(ADA)
        runs = [
            await ada.begin("greeter", f"Number {number}?", labels={"odd": str(number % 2)})
            for number in range(5)
        ]
        runs.append(await ada.begin("writer", "A letter, please."))
        for each in runs:
            await ada.until_stop(each)
        assert await listed(ada, "status=held") == runs[5:]
        assert {*await listed(ada, "label=odd%3D1")} == {runs[1], runs[3]}
        assert await listed(ada, "text=LETTER") == runs[5:]
        pages: list[str] = []
        after = ""
        while True:
            page = await ada.get(f"/api/runs?limit=2&after={after}")
            pages += [each["run_id"] for each in page["runs"]]
            if not (after := page["after"]):
                break
        assert sorted(pages) == sorted(runs)


async def listed(here: Any, query: str) -> list[str]:
    return [each["run_id"] for each in (await here.get(f"/api/runs?{query}"))["runs"]]


async def test_a_search_that_fills_its_page_goes_on_behind_the_last_match() -> None:
    async with site(agents={"greeter": greeter()}) as here:
        ada = here.by(ADA)
        for number in range(6):
            await ada.until_stop(await ada.begin("greeter", f"{'even' if number % 2 else 'odd'}?"))
        first = await ada.get("/api/runs?text=even&limit=2")
        second = await ada.get(f"/api/runs?text=even&limit=2&after={first['after']}")
        titles = [each["title"] for page in (first, second) for each in page["runs"]]
        assert (titles, second["after"]) == (["even?"] * 3, "")


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "error"),
    [
        ("GET", "/api/runs?limit=0", None, 422, "invalid"),
        ("GET", "/api/runs?limit=many", None, 422, "invalid"),
        ("GET", "/api/runs?colour=red", None, 422, "invalid"),
        ("GET", "/api/runs?label=odd", None, 422, "invalid"),
        ("GET", "/api/runs?limit=1&limit=2", None, 422, "invalid"),
        ("GET", "/api/runs?after=no-such-run", None, 404, "run_not_found"),
        ("GET", "/api/runs?status=no-such", None, 200, ""),
        ("GET", "/api/runs/no-such-run", None, 404, "run_not_found"),
        ("GET", "/api/runs/no-such-run/events", None, 404, "run_not_found"),
        ("POST", "/api/runs", {"agent": "nobody", "question": "Who?"}, 422, "no_such_agent"),
        ("POST", "/api/runs", {"agent": "greeter"}, 422, "invalid"),
        ("POST", "/api/runs", {"agent": "greeter", "question": ""}, 422, "invalid"),
        ("POST", "/api/runs", {"agent": "greeter", "question": "?", "x": 1}, 422, "invalid"),
        ("POST", "/api/runs", [], 422, "invalid"),
        ("POST", "/api/rulings/nothing", {"allow": True}, 422, "invalid"),
        ("POST", "/api/runs/no-such-run", {}, 405, "wrong_method"),
        ("GET", "/nothing", None, 404, "no_such_path"),
        ("GET", "/api/runs/a%00b", None, 404, "no_such_path"),
        ("GET", "/api/runs?after=a%00b", None, 422, "invalid"),
        ("GET", "/api/runs/x/entries?after=-1", None, 422, "invalid"),
        ("GET", "/api/runs/x/entries?limit=1001", None, 422, "invalid"),
    ],
)
async def test_what_does_not_fit_is_one_line_and_no_failure(
    method: str, path: str, body: Any, status: int, error: str
) -> None:
    async with site(agents={"greeter": greeter()}) as here:
        answer = await here.by(ADA).ask(method, path, body)
        assert answer.status_code == status, answer.text
        problem = answer.json()
        assert problem.get("error", "") == error
        assert "\n" not in problem.get("message", "")


async def test_what_breaks_inside_is_told_to_the_log_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with site(agents={"greeter": greeter()}) as here:
        answer = await here.by(ADA).ask("GET", "/api/runs/x/events?after=%F0%9F%98%80")
        assert answer.status_code in {404, 422}
        odd = await here.by(ADA).ask("GET", "/api/runs?after=%00")
        assert odd.status_code in {404, 422}
    assert "Traceback" not in answer.text + odd.text


async def test_a_run_that_a_program_began_is_seen_and_named_by_an_id_with_slashes() -> None:
    await run_here(agent([finish("Yes.")]), "Well?", store="runs.sqlite", run_id="a/b/c")
    async with site(agents={"greeter": greeter()}) as here:
        state = await here.by(ROOT).get("/api/runs/a%2Fb%2Fc")
        page = await here.by(ROOT).get("/api/runs/a/b/c/entries")
        assert (state["answer"], state["agent"], page["last"]) == ("Yes.", "", 4)
        assert (await here.by(ADA).ask("GET", "/api/runs/a/b/c")).status_code == 404


async def test_the_document_lists_each_route_and_each_reference_leads_somewhere() -> None:
    async with site() as here:
        document = await here.by(ADA).get("/api/openapi.json")
        page = await here.by(ADA).ask("GET", "/api/docs")
    text = json.dumps(document)
    schemas = document["components"]["schemas"]
    references = {part.partition('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert references <= {*schemas}
    for path in document["paths"]:
        assert path in page.text
    assert document["paths"]["/api/runs/{run}/events"]["get"]["parameters"][0]["name"] == "run"


async def test_health_and_figures() -> None:
    async with site(agents={"writer": writer(Letters())}) as here:
        run = await here.by(ADA).begin("writer")
        await here.by(ADA).until_stop(run)
        assert (await here.by(ADA).ask("GET", "/readyz")).text == "ok\n"
        figures = (await here.by(ROOT).ask("GET", "/metrics")).text.splitlines()
    assert 'clew_queue_runs{queue="default",standing="held"} 1' in figures
    assert "clew_steps_total 1" in figures
    assert 'clew_waiting_calls{wants="ruling"} 1' in figures
    assert 'clew_http_requests_total{status="201"} 1' in figures


async def test_a_store_that_was_moved_takes_no_run_and_is_not_ready() -> None:
    async with site(agents={"writer": writer(Letters())}) as here:
        new = {"agent": "writer", "question": "Write."}
        Path("runs.sqlite").rename("moved.sqlite")
        refused = await here.by(ADA).ask("POST", "/api/runs", new)
        ready = await here.by(ADA).ask("GET", "/readyz")
        Path("moved.sqlite").rename("runs.sqlite")
        assert (refused.status_code, refused.json()["error"]) == (503, "store_unreachable")
        assert (ready.status_code, ready.text) == (503, "the store does not answer\n")
        assert (await here.by(ADA).ask("GET", "/readyz")).text == "ok\n"
        run = await here.by(ADA).begin("writer")
        assert (await here.by(ADA).until_stop(run))["status"] == "held"


async def test_probes_without_a_token_only_where_the_settings_say_so() -> None:
    async with site(open_health=True) as here:
        assert (await here.ask("GET", "/healthz")).text == "ok\n"
        assert (await here.ask("GET", "/readyz")).text == "ok\n"
        assert (await here.ask("GET", "/metrics")).status_code == 401


async def test_a_link_signs_a_browser_in_whose_cookie_counts_from_pages_of_the_server() -> None:
    async with site(agents={"greeter": greeter()}, users=()) as here:
        first = await here.http.get(here.link)
        cookie = first.headers["set-cookie"]
        token = here.link.rpartition("=")[2]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert token not in cookie
        assert token not in first.text
        signed = {"cookie": cookie.partition(";")[0]}
        here.http.cookies.clear()
        assert (await here.ask("GET", "/", **signed)).status_code == 200
        new = {"agent": "greeter", "question": "Hello?"}
        bare = await here.ask("POST", "/api/runs", new, **signed)
        own = await here.ask("POST", "/api/runs", new, **signed, origin=here.url)
        assert (bare.status_code, bare.json()["error"]) == (403, "foreign_origin")
        assert own.status_code == 201
        wrong = await here.ask("GET", f"/?token={token[:-1]}")
        assert wrong.status_code == 401


async def test_a_token_in_the_form_of_a_page_signs_its_user_in_from_there_alone() -> None:
    async with site() as here:
        page = await here.ask("GET", "/runs/some", accept="text/html")
        own = {"token": f" {ADA.token} "}
        signed = await here.http.post(here.url + "/", data=own, headers={"origin": here.url})
        cookie = {"cookie": signed.headers["set-cookie"].partition(";")[0]}
        here.http.cookies.clear()
        assert (await here.ask("GET", "/", **cookie)).status_code == 200
        for origin, status in ((here.url, 401), ("", 403), ("https://evil.example", 403)):
            token = BOB.token + "x" if origin == here.url else BOB.token
            headers = {"origin": origin} if origin else {}
            answer = await here.http.post(here.url + "/", data={"token": token}, headers=headers)
            assert (answer.status_code, "set-cookie" in answer.headers) == (status, False)
        head = {"origin": here.url}
        long = await here.http.post(here.url + "/", data={"token": "x" * 5_000}, headers=head)
    assert 'method="post" action="/"' in page.text
    assert "form-action 'self'" in page.headers["content-security-policy"]
    assert (signed.status_code, long.status_code) == (200, 413)
    assert signed.headers["referrer-policy"] == "no-referrer"
    assert ADA.token not in signed.text + str(signed.headers)


async def test_a_wrong_token_is_told_from_none_by_its_words_alone() -> None:
    async with site() as here:
        none = await here.ask("GET", "/api/runs")
        header = await here.ask("GET", "/api/runs", authorization="Bearer token-of-nobody-0123")
        link = await here.ask("GET", "/?token=token-of-nobody-0123")
    assert [(it.status_code, it.json()["error"]) for it in (none, header, link)] == [
        (401, "no_token")
    ] * 3
    assert ["wrong" in it.json()["message"] for it in (none, header, link)] == [False, True, True]


async def test_pages_of_a_further_origin_may_ask_and_read_with_a_token_and_others_not() -> None:
    async with site(allowed_origins=["https://app.example"]) as here:
        asks = {"access-control-request-method": "GET"}
        first = await here.ask("OPTIONS", "/api/runs", origin="https://app.example", **asks)
        own = await here.by(ADA).ask("GET", "/api/runs", origin="https://app.example")
        bare = await here.ask("GET", "/api/runs", origin="https://app.example")
        evil = await here.ask("OPTIONS", "/api/runs", origin="https://evil.example", **asks)
        none = await here.by(ADA).ask("GET", "/api/runs")
    allowed = "access-control-allow-origin"
    assert (first.status_code, own.status_code, bare.status_code) == (204, 200, 401)
    assert {it.headers[allowed] for it in (first, own, bare)} == {"https://app.example"}
    assert "authorization" in first.headers["access-control-allow-headers"]
    assert "access-control-allow-credentials" not in own.headers
    assert (evil.status_code, allowed in evil.headers, allowed in none.headers) == (
        403,
        False,
        False,
    )


async def test_a_proxy_names_its_users_beside_the_token_of_an_admin_only() -> None:
    settings: dict[str, Any] = {"proxy_header": "x-user", "proxy_roles": {"ann": "look"}}
    async with site(agents={"greeter": greeter()}, **settings) as here:
        new = {"agent": "greeter", "question": "Hello?"}
        ben = await here.by(ROOT).ask("POST", "/api/runs", new, **{"x-user": "ben"})
        ann = await here.by(ROOT).ask("POST", "/api/runs", new, **{"x-user": "ann"})
        forged = await here.by(ADA).ask("GET", "/api/runs", **{"x-user": "ben"})
        alone = await here.ask("GET", "/api/runs", **{"x-user": "ben"})
        wrong = {"x-user": "ben", "authorization": f"Bearer {ROOT.token}x"}
        guessed = await here.ask("GET", "/api/runs", **wrong)
        state = await here.by(ROOT).get(f"/api/runs/{ben.json()['run_id']}")
    assert (ben.status_code, ann.status_code) == (201, 403)
    assert [it.status_code for it in (forged, alone, guessed)] == [401, 401, 401]
    assert state["owner"] == "ben"


async def test_a_server_that_ends_lets_a_step_finish_and_the_next_goes_on() -> None:
    begun, end = anyio.Event(), anyio.Event()
    sent: list[str] = []

    @tool(effect="unsafe")
    async def send(text: str) -> str:
        """Send it, slowly."""
        begun.set()
        await end.wait()
        sent.append(text)
        return "sent"

    slow = agent([act("send", text="x"), finish("Done.")], [send])
    async with site(agents={"slow": slow}) as here:
        run = await here.by(ADA).begin("slow")
        await begun.wait()
        here.leaving.set()
        end.set()
    async with site(agents={"slow": slow}) as here:
        state = await here.by(ADA).until_stop(run)
    assert (state["status"], sent) == ("answered", ["x"])


@tool(effect="unsafe")
def pay(amount: int, ctx: RunContext[str]) -> str:
    """Pay an amount."""
    return f"paid {amount} at {ctx.deps}"


async def test_agents_that_a_record_cannot_tell_apart_are_not_served_together() -> None:
    def payer(bank: str) -> Agent[Any]:
        return agent([act("pay", amount=1), finish("Paid.")], [pay], deps=lambda _: bank)

    agents = {"live": payer("the bank"), "trial": payer("a sandbox")}
    config = ServeConfig(store="runs.sqlite", users=[ROOT], agents=agents)
    with pytest.raises(ConfigError, match="the agents live and trial look alike"):
        async with application(config):
            pass
