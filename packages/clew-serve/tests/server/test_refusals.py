"""Who may not: every route of the table, asked by those who may not, is refused in the same way."""

from collections.abc import Iterator
from typing import Any, Final

import httpx2
import pytest

from clew_serve import ServeConfig, application
from clew_serve.access.roles import ROLES, may
from clew_serve.endpoints import Endpoint, RouteTable
from clew_serve.routes import route_table
from tests.server.site import ADA, BOB, EVE, RAY, ROOT, Letters, Site, greeter, site, writer


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """What uvicorn runs on."""
    return "asyncio"


ENDPOINTS: Final = route_table().endpoints
BODIES: Final[dict[str, Any]] = {  # what each route takes, so that nothing else is in its way
    "/api/runs": {"agent": "writer", "question": "Write."},
    "/api/runs/{run:path}/words": {"say": "And?"},
    "/api/runs/{run:path}/cancel": {},
    "/api/runs/{run:path}/forks": {"at": 1},
    "/api/runs/{run:path}/rewind": {"to": 0, "lesson": "Not so."},
    "/api/rulings/{call:path}": {"allow": True},
    "/api/answers/{call:path}": {"value": "Yes."},
    "/api/settlings/{call:path}": {"done": True},
    "/start": {"agent": "writer", "question": "Write."},
    "/runs/{run:path}/words": {"say": "And?"},
    "/runs/{run:path}/cancel": {},
    "/runs/{run:path}/rewind": {"to": 0, "lesson": "Not so."},
    "/runs/{run:path}/fork": {"at": 1},
    "/inbox/rulings/{call:path}": {"decision": "allow"},
    "/inbox/answers/{call:path}": {"value": "Yes."},
    "/inbox/settlings/{call:path}": {"outcome": "done"},
    "/agui": {"threadId": "t", "runId": "r", "messages": [{"role": "user", "content": "Hi."}]},
    "/v1/responses": {"model": "writer", "input": "Hi."},
    "/v1/chat/completions": {"model": "writer", "messages": [{"role": "user", "content": "Hi."}]},
}

REVIEWED: Final = {  # what a reviewer may ask of another's run, while it waits
    ("GET", "/api/runs/{run:path}"),
    ("GET", "/api/runs/{run:path}/entries"),
    ("GET", "/runs/{run:path}"),
    ("GET", "/runs/{run:path}/more"),
    ("GET", "/runs/{run:path}/picture"),
    ("POST", "/api/rulings/{call:path}"),
    ("POST", "/api/answers/{call:path}"),
    ("POST", "/api/settlings/{call:path}"),
    ("POST", "/inbox/rulings/{call:path}"),
    ("POST", "/inbox/answers/{call:path}"),
    ("POST", "/inbox/settlings/{call:path}"),
}


def path_of(each: Endpoint, run: str, call: str) -> str:
    return each.path.replace("{run:path}", run).replace("{call:path}", call)


def body_of(each: Endpoint) -> Any:
    return None if each.takes is None else BODIES[each.path]


def error_of(answer: httpx2.Response) -> str:
    """The word for programs, in the form of any protocol."""
    error = answer.json()["error"]
    return str(error["code"] if isinstance(error, dict) else error)


def of_a_run() -> Iterator[Endpoint]:
    yield from (each for each in ENDPOINTS if "{" in each.path)


async def held(here: Site) -> tuple[str, str]:
    """A run of Ada's that is held, and the id of its call."""
    run = await here.by(ADA).begin("writer")
    state = await here.by(ADA).until_stop(run)
    return run, state["pending"][0]["id"]


def test_each_route_declares_its_role_and_the_tests_know_what_it_takes() -> None:
    assert {each.role for each in ENDPOINTS} <= {*ROLES}
    assert {each.path for each in ENDPOINTS if each.takes is not None} == {*BODIES}
    assert [each.path for each in ENDPOINTS if each.method == "GET" and each.takes] == []


@pytest.mark.slow
async def test_strangers_are_refused_on_every_path_alike() -> None:
    """Also on one that there is not: nobody learns without a token what there is."""
    letters = Letters()
    async with site(agents={"writer": writer(letters)}) as here:
        run, call = await held(here)
        known = [(it.method, path_of(it, run, call), body_of(it)) for it in ENDPOINTS]
        port = here.url.rpartition(":")[2]
        signed = here.by(ADA).headers
        strangers: list[tuple[int, str, dict[str, str]]] = [
            (401, "no_token", {}),
            (401, "no_token", {"authorization": "Bearer token-of-nobody-0123456789"}),
            (401, "no_token", {"authorization": f"Basic {ADA.token}"}),
            (401, "no_token", {"authorization": ""}),
            (401, "no_token", {"cookie": f"clew-0123456789ab={ADA.token}"}),
            (403, "foreign_host", {"host": "evil.example"}),
            (403, "foreign_host", {**signed, "host": "evil.example"}),
            (403, "foreign_host", {**signed, "host": f"localhost.evil.example:{port}"}),
            (403, "foreign_origin", {**signed, "origin": "https://evil.example"}),
            (403, "foreign_origin", {**signed, "origin": "null"}),
            (403, "foreign_origin", {**signed, "origin": "http://127.0.0.1:1"}),
            (403, "foreign_origin", {**signed, "sec-fetch-site": "same-site"}),
        ]
        for method, path, body in [*known, ("GET", "/nothing", None), ("PUT", "/api/runs", {})]:
            for status, error, headers in strangers:
                answer = await here.ask(method, path, body, **headers)
                assert answer.status_code == status, (method, path, headers)
                assert error_of(answer) == error
        assert (await here.by(ADA).get(f"/api/runs/{run}"))["status"] == "held"
    assert letters.sent == []


@pytest.mark.parametrize("value", ["-1", str(2**53), str(2**63), "1e400", "9" * 5000, "٣"])
async def test_no_number_of_a_request_is_a_failure_of_the_server(value: str) -> None:
    """Each parameter behind the `?` of each route, and the place that a stream begins at."""
    async with site(agents={"writer": writer(Letters())}) as here:
        run, call = await held(here)
        for each in (each for each in ENDPOINTS if each.method == "GET"):
            path, ada = path_of(each, run, call), here.by(ADA)
            names = () if each.query is None else each.query.__struct_fields__
            for name in names:
                answer = await ada.ask("GET", f"{path}?{name}={value}")
                assert answer.status_code < 500, (path, name)
            if each.gives == "text/event-stream" and value.isascii():
                answer = await ada.ask("GET", path, **{"last-event-id": value})
                assert answer.status_code < 500, path


async def test_a_run_of_another_is_not_found_by_whoever_has_its_id() -> None:
    letters = Letters()
    async with site(agents={"writer": writer(letters)}) as here:
        run, call = await held(here)
        for each in of_a_run():
            answer = await here.by(BOB).ask(each.method, path_of(each, run, call), body_of(each))
            missing = path_of(each, "no-such-run", call.replace(run, "no-such-run"))
            like = await here.by(BOB).ask(each.method, missing, body_of(each))
            assert (answer.status_code, error_of(answer)) == (404, "run_not_found")
            assert answer.text.replace(run, "no-such-run") == like.text, each.path
        assert (await here.by(BOB).get("/api/runs"))["runs"] == []
        assert (await here.by(BOB).get("/api/inbox"))["held"] == []
        assert [it["run_id"] for it in (await here.by(ROOT).get("/api/runs"))["runs"]] == [run]
        assert (await here.by(ADA).get(f"/api/runs/{run}"))["status"] == "held"
    assert letters.sent == []


async def test_a_reviewer_sees_and_decides_on_a_run_of_another_while_it_waits() -> None:
    """On a closed list of routes; on all others, and of a run that waits not, there is none."""
    letters = Letters()
    agents = {"writer": writer(letters), "greeter": greeter()}
    async with site(agents=agents) as here:
        (run, call), ray = await held(here), here.by(RAY)
        ended = await here.by(ADA).begin("greeter")
        await here.by(ADA).until_stop(ended)
        for each in of_a_run():
            asked = [(ended, f"{ended}:1.1", True)]
            if (each.method, each.path) not in REVIEWED:
                asked.append((run, call, True))
            elif each.method == "GET":
                asked.append((run, call, False))
            for run_id, named, refused in asked:
                answer = await ray.ask(each.method, path_of(each, run_id, named), body_of(each))
                if may("rule", each.role or "admin") and refused:
                    assert (answer.status_code, error_of(answer)) == (404, "run_not_found"), each
                    missing = path_of(each, "no-such-run", named.replace(run_id, "no-such-run"))
                    like = await ray.ask(each.method, missing, body_of(each))
                    assert answer.text.replace(run_id, "no-such-run") == like.text
                elif refused:
                    assert (answer.status_code, error_of(answer)) == (403, "role"), each
                elif each.path.endswith("/picture"):  # which the run has not
                    assert error_of(answer) == "no_such_picture"
                else:
                    assert answer.status_code == 200, each
        assert (await ray.get("/api/runs"))["runs"] == []
        (waiting,) = (await ray.get("/api/inbox"))["held"]
        assert (waiting["id"], waiting["args"], waiting["owner"]) == (
            call, {"text": "Dear Ada"}, "ada",
        )  # fmt: skip
        shown = await ray.ask("GET", f"/runs/{run}")
        assert not [it for it in ("/prompt", "/figures", "/export", "/live") if it in shown.text]
        assert (await here.by(EVE).get("/api/inbox"))["held"] == []
        await ray.post(f"/api/rulings/{call}", {"allow": True})
        await ray.post(f"/api/rulings/{call}", {"allow": True})  # as a client that retries
        assert (await here.by(ADA).until_stop(run))["status"] == "answered"
        await ray.post(f"/api/rulings/{call}", {"allow": True})
        for path in (f"/api/runs/{run}", f"/api/runs/{run}/entries", f"/runs/{run}"):
            assert (await ray.ask("GET", path)).status_code == 404
        assert (await ray.get("/api/inbox"))["held"] == []
        entries = (await here.by(ADA).get(f"/api/runs/{run}/entries"))["entries"]
        assert [each["by"] for each in entries if each["event"] == "ruling"] == ["ray"]
    assert letters.sent == ["Dear Ada"]


async def test_a_reviewer_finds_no_run_that_somebody_else_decided_on() -> None:
    async with site(agents={"writer": writer(Letters())}, work=False) as here:
        run = await here.by(ADA).begin("writer")
        async with site(agents={"writer": writer(Letters())}) as working:
            call = (await working.by(ADA).until_stop(run))["pending"][0]["id"]
        await here.by(RAY).get(f"/api/runs/{run}")
        await here.by(ADA).post(f"/api/rulings/{call}", {"allow": True})
        for method, path in (("GET", f"/api/runs/{run}"), ("POST", f"/api/rulings/{call}")):
            answer = await here.by(RAY).ask(method, path, {"allow": True})
            assert (answer.status_code, error_of(answer)) == (404, "run_not_found")


async def test_a_role_may_what_it_says_and_no_more() -> None:
    async with site(agents={"writer": writer(Letters())}) as here:
        for user in (EVE, RAY, ADA):
            for each in ENDPOINTS:
                assert each.role is not None
                path = path_of(each, "no-such-run", "no-such-run:1.1")
                answer = await here.by(user).ask(each.method, path, body_of(each))
                refused = answer.status_code == 403
                assert refused is not may(user.role, each.role), (user, each.path)
                assert not refused or error_of(answer) == "role"


async def test_a_server_that_only_shows_changes_nothing() -> None:
    letters = Letters()
    async with site(agents={"writer": writer(letters)}) as here:
        run, call = await held(here)
    async with site(agents={"writer": writer(letters)}, read_only=True) as here:
        for each in ENDPOINTS:
            answer = await here.by(ROOT).ask(each.method, path_of(each, run, call), body_of(each))
            if each.path.endswith("/picture"):  # which the run has not
                assert error_of(answer) == "no_such_picture"
            elif each.method == "GET":
                assert answer.status_code in {200, 204}, each.path
            else:
                assert (answer.status_code, error_of(answer)) == (403, "read_only")
        assert (await here.by(ROOT).get(f"/api/runs/{run}"))["status"] == "held"
    assert letters.sent == []


async def test_a_route_without_a_role_is_refused_whoever_asks() -> None:
    async def tell(inquiry: object) -> str:
        return "secret"

    bare = Endpoint(method="GET", path="/bare", role=None, handler=tell, about="")
    from_table = RouteTable([*ENDPOINTS, bare]).find("GET", "/bare").endpoint
    assert from_table is bare
    config = ServeConfig(store="runs.sqlite", users=[ROOT], agents={"writer": writer(Letters())})
    async with application(config, [bare]) as app:
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
            headers = {"authorization": f"Bearer {ROOT.token}"}
            answer = await http.get("/bare", headers=headers)
            assert (answer.status_code, error_of(answer)) == (403, "refused")
            assert (await http.get("/healthz", headers=headers)).text == "ok\n"
