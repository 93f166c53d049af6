"""A tool with a fallback: who is called when, what the model is told, and what a crash leaves."""

from dataclasses import replace
from typing import Any

import anyio
import pytest

from clew import (
    Agent,
    Call,
    ConfigError,
    Evidence,
    Image,
    MemoryStore,
    Observation,
    Retry,
    Tool,
    ToolError,
    Trajectory,
    Verdict,
    delegate,
    read,
    replay,
    resume,
    run,
    tool,
)
from clew.core.values import encode
from clew.interfaces import CALL, Append, Attempt, Effect
from clew.testing import ScriptedModel, act, say
from clew.toolbox import planner
from clew.tools import Attempts, external
from clew.tools.fallback import with_fallback

QUERY = {
    "type": "object",
    "properties": {"query": {"type": "string"}},
    "required": ["query"],
    "additionalProperties": False,
}


def gives(value: Any) -> Any:
    """What a call does: it returns the value, or raises it."""

    async def call(args: dict[str, Any], key: str) -> Any:
        SEEN.append((args, key))
        if isinstance(value, BaseException):
            raise value
        return value

    return call


SEEN: list[tuple[dict[str, Any], str]] = []


@pytest.fixture(autouse=True)
def nothing_seen() -> None:
    SEEN.clear()


def made(name: str, value: Any, **fields: Any) -> Tool:
    fields = {"effect": "read", **fields}
    return Tool(name, f"Search {name}.", fields.pop("parameters", QUERY), gives(value), **fields)


DOWN = ToolError("the line is down")


async def called(one: Tool, **fields: Any) -> tuple[Observation, Any, str]:
    """The observation of one call by a run, the store and the run's id."""
    store = MemoryStore()
    model = ScriptedModel([act(one.name, query="tides"), say("Done.")])
    agent = Agent(model=model, tools=[one], **fields)
    result = await run(agent, "Look.", store=store)
    observation = (await read(result.run_id, store=store)).calls[0].observation
    assert observation is not None
    return observation, store, result.run_id


async def test_the_first_answers_where_it_can() -> None:
    pair = with_fallback(made("web", "from the web"), made("wiki", "from the wiki"))
    observation, _, _ = await called(pair)
    assert (observation.text, observation.detail) == ("from the web", "")
    assert len(SEEN) == 1


async def replayed_bytes(run_id: str, store: MemoryStore, one: Tool) -> bool:
    """Whether a replay writes the same record, byte for byte, and calls nothing."""
    before = len(SEEN)
    again = await replay(Agent(model=ScriptedModel([]), tools=[one]), run_id, store=store)
    entries = (await read(run_id, store=store)).entries
    same = [encode(entry.event) for entry in entries]
    assert len(SEEN) == before
    return [encode(entry.event) for entry in again.trajectory.entries] == same


async def test_the_other_answers_where_the_first_did_nothing() -> None:
    pair = with_fallback(made("web", DOWN), made("wiki", "from the wiki"))
    observation, store, run_id = await called(pair)
    note = "wiki answered, since web did not do it: the line is down"
    assert observation.text == f"[{note}]\nfrom the wiki"
    assert (observation.ok, observation.detail) == (True, note)
    (first, key), (second, same) = SEEN
    assert first == second == {"query": "tides"}
    assert key == same == f"{run_id}:1.1"
    assert await replayed_bytes(run_id, store, pair)


REFUSED = Observation(content="ERROR: no", ok=False, outcome="not_done")
NOR_HERE = Observation(content="nor here", ok=False, outcome="not_done")
FAILED = Observation(content="ERROR: gone", ok=False, outcome="unknown")


@pytest.mark.parametrize(
    ("effect", "came", "handed_on"),
    [
        ("read", DOWN, True),
        ("read", OSError("no route"), True),
        ("read", FAILED, True),  # of what only reads nothing is left
        ("unsafe", DOWN, True),
        ("unsafe", REFUSED, True),
        ("unsafe", OSError("no route"), False),
        ("unsafe", FAILED, False),
        (
            "idempotent",
            OSError("no route"),
            False,
        ),  # it may have happened: no other way
    ],
)
async def test_only_what_certainly_did_nothing_is_handed_on(
    effect: Effect, came: Any, handed_on: bool
) -> None:
    pair = with_fallback(made("web", came, effect=effect), made("wiki", "from the wiki"))
    observation, store, run_id = await called(pair)
    assert len(SEEN) == 1 + handed_on
    assert observation.ok == handed_on
    assert observation.outcome == ("done" if handed_on else "unknown")
    assert observation.effect == effect
    assert await replayed_bytes(run_id, store, pair)


@pytest.mark.parametrize(
    ("effect", "came", "code", "outcome"),
    [
        ("read", ToolError("nor here"), "tool_error", "not_done"),
        ("read", OSError("nor here"), "tool_error", "not_done"),
        ("read", NOR_HERE, "tool_error", "not_done"),
        ("unsafe", ToolError("nor here"), "tool_error", "not_done"),
        ("unsafe", OSError("nor here"), "crashed", "unknown"),
    ],
)
async def test_where_both_fail_both_are_told(
    effect: Effect, came: Any, code: str, outcome: str
) -> None:
    pair = with_fallback(made("web", DOWN, effect="unsafe"), made("wiki", came, effect=effect))
    observation, _, _ = await called(pair)
    assert (observation.code, observation.outcome) == (code, outcome)
    assert "nor here" in observation.text
    if code == "tool_error":
        assert "web did not do it: the line is down" in observation.text


async def test_a_failure_of_the_other_that_it_tells_itself_stays_its_own() -> None:
    failed = Observation(content="half of it", ok=False, outcome="unknown", detail="trace")
    pair = with_fallback(made("web", DOWN), made("wiki", failed, effect="unsafe"))
    observation, _, _ = await called(pair)
    assert (observation.content, observation.outcome) == ("half of it", "unknown")
    assert observation.detail.endswith("the line is down\ntrace")


async def test_what_the_other_found_may_be_cited() -> None:
    piece = Evidence(doc_id="wiki_1", text="High at six.", score=0.5, source="wiki")
    found = Observation(content="High at six.", evidence=(piece,), trust="trusted")
    pair = with_fallback(made("web", DOWN), made("wiki", found, trust="trusted"))
    observation, _, _ = await called(pair)
    assert observation.evidence == (piece,)
    picture = Image("image/png", b"\x89PNG\r\n\x1a\n", text="a chart")
    observation, _, _ = await called(with_fallback(made("web", DOWN), made("wiki", picture)))
    assert observation.attachments[0].data == picture.data
    assert observation.text.endswith("a chart")
    observation, _, _ = await called(with_fallback(made("web", DOWN), made("wiki", {"at": 6})))
    assert observation.content == {
        "note": "wiki answered, since web did not do it: the line is down",
        "result": {"at": 6},
    }


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        ("pure", "read", "read"),
        ("read", "pure", "read"),
        ("read", "idempotent", "idempotent"),
        ("unsafe", "read", "unsafe"),
        ("idempotent", "idempotent", "unsafe"),  # repeated, the call might have both effects
    ],
)
def test_the_pair_has_the_stronger_effect(first: Effect, second: Effect, both: Effect) -> None:
    assert with_fallback(made("a", "", effect=first), made("b", "", effect=second)).effect == both


def test_the_pair_says_what_it_is_made_of() -> None:
    one = made("web", "", trust="trusted", attempts=Attempts(timeout=5.0), version="2")
    two = made("wiki", "", attempts=Attempts(timeout=7.0), trust="untrusted")
    pair = with_fallback(one, two)
    assert pair.description == "Search web.\n\nIf it fails, wiki is called instead."
    assert (pair.trust, pair.attempts.timeout, pair.version) == ("untrusted", 12.0, "2|wiki@1")
    assert with_fallback(one, replace(two, trust="trusted")).trust == "trusted"


async def test_a_slow_reader_leaves_time_for_the_other() -> None:
    async def sleepy(args: dict[str, Any], key: str) -> str:
        await anyio.sleep_forever()
        return ""

    slow = Tool("web", "Search.", QUERY, sleepy, effect="read", attempts=Attempts(timeout=0.05))
    observation, _, _ = await called(with_fallback(slow, made("wiki", "from the wiki")))
    assert observation.text.endswith("it did not end in 0.05 s]\nfrom the wiki")


async def test_results_are_held_against_their_own_schemas() -> None:
    number = {"type": "object", "properties": {"n": {"type": "integer"}}}
    wrong = made("web", {"n": "six"}, result=number)
    observation, _, _ = await called(with_fallback(wrong, made("wiki", "from the wiki")))
    assert observation.code == "bad_output"
    assert 'n: "six" is a string' in observation.text
    given = Observation(content={"n": "six"})
    pair = with_fallback(made("web", DOWN), made("wiki", given, result=number))
    observation, _, _ = await called(pair)
    assert observation.code == "bad_output"
    for fine in ({"n": 6}, Observation(content={"n": 6}), Image("image/png", b"\x89PNG\r\n\x1a\n")):
        right = with_fallback(made("web", fine, result=number), made("wiki", ""))
        assert (await called(right))[0].ok
    strange = with_fallback(made("web", object(), result=number), made("wiki", ""))
    assert "what JSON cannot carry" in (await called(strange))[0].text
    failing = with_fallback(made("web", DOWN), made("wiki", FAILED, effect="unsafe", result=number))
    assert (await called(failing))[0].outcome == "unknown"


async def test_a_plain_function_may_stand_for_another() -> None:
    @tool(effect="read")
    def web(query: str) -> str:
        """Search the web."""
        raise ToolError("the line is down")

    def at_once(args: dict[str, Any], key: str) -> str:
        return f"about {args['query']}"

    wiki = Tool("wiki", "Search.", QUERY, at_once, effect="read")
    observation, _, _ = await called(with_fallback(web, wiki))
    assert observation.text.endswith("about tides")


async def test_of_three_each_has_its_turn() -> None:
    last = with_fallback(made("wiki", DOWN), made("library", "from the library"))
    observation, _, _ = await called(with_fallback(made("web", DOWN), last))
    assert observation.text.endswith("from the library")
    assert "web did not do it" in observation.text
    assert "wiki did not do it" in observation.text


async def test_both_are_tried_again_where_the_first_has_retries() -> None:
    retry = Retry(times=1, delay=0.001)
    pair = with_fallback(
        made("web", DOWN, attempts=Attempts(retry=retry)), made("wiki", ToolError("nor here"))
    )
    _, store, run_id = await called(pair)
    assert len(SEEN) == 4
    record = await read(run_id, store=store)
    assert [one.number for one in record.calls[0].attempts] == [2]
    assert await replayed_bytes(run_id, store, pair)


# ------------------------------------------------------------------------------ do they fit?


def takes(required: tuple[str, ...] = (), *, more: bool = False, **types: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": kind} if kind else {} for name, kind in types.items()},
        "required": [*required],
        "additionalProperties": more,
    }


@pytest.mark.parametrize(
    ("first", "second", "names", "said"),
    [
        (takes(q="string"), takes(word="string"), {}, "b cannot be called for a: it takes no 'q'"),
        (takes(q="string"), takes(q="integer"), {}, "'q' is string, and it takes integer"),
        (takes(q="string"), takes(("q",), q="string"), {}, "it needs 'q', which a call may lack"),
        (takes(q="number"), takes(q="integer"), {}, "'q' is integer/number, and it takes integer"),
        (takes(q="string"), takes(q="string"), {"z": "q"}, "name 'z', which is no parameter"),
        (takes(("q",), q="string"), takes(("w",), w="string"), {"q": None}, "it needs 'w'"),
    ],
)
def test_parameters_that_do_not_fit_are_told(
    first: Any, second: Any, names: Any, said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        with_fallback(made("a", "", parameters=first), made("b", "", parameters=second), names)


@pytest.mark.parametrize(
    ("first", "second", "names"),
    [
        (takes(("q",), q="string"), takes(("word",), word="string"), {"q": "word"}),
        (takes(q="string", page="integer"), takes(q="string"), {"page": None}),
        (takes(q="integer"), takes(q="number"), {}),
        (takes(q="string"), takes(q=["string", "null"]), {}),
        (takes(q=None), takes(q="string"), {}),
        (takes(q="string"), takes(more=True), {}),
        ({"type": "object"}, {"type": "object"}, {}),
    ],
)
def test_parameters_that_fit_are_no_matter(first: Any, second: Any, names: Any) -> None:
    with_fallback(made("a", "", parameters=first), made("b", "", parameters=second), names)


async def test_arguments_have_the_other_tools_names_and_must_fit_its_schema() -> None:
    short = {"word": {"type": "string", "maxLength": 9}}
    other = made("wiki", "six", parameters={**takes(("word",), word="string"), "properties": short})
    pair = with_fallback(made("web", DOWN), other, {"query": "word"})
    assert (await called(pair))[0].text.endswith("six")
    assert SEEN[-1][0] == {"word": "tides"}
    short["word"] = {"type": "string", "maxLength": 3}
    observation, _, _ = await called(with_fallback(made("web", DOWN), other, {"query": "word"}))
    assert "wiki cannot be called instead: word" in observation.text
    assert observation.code == "tool_error"


def test_what_is_more_than_a_call_has_no_fallback() -> None:
    sub = delegate(Agent(model=ScriptedModel([])), name="helper", description="Help.")
    for first, second in ((sub, made("a", "")), (made("a", ""), sub), (planner(), made("a", ""))):
        with pytest.raises(ConfigError, match="it is more than one call"):
            with_fallback(first, second)
    desk = external("desk", "Ask the desk.")
    for pair in ((desk, made("a", "")), (made("a", ""), desk)):
        with pytest.raises(ConfigError, match="desk is performed elsewhere"):
            with_fallback(*pair)
    with pytest.raises(ConfigError, match="a cannot be its own fallback"):
        with_fallback(made("a", ""), made("a", ""))


# ------------------------------------------------------------------------------------ guards

AMEND = Verdict("amend", "less", args={"query": "t"})


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        (None, Verdict("deny", "not the wiki"), "not the wiki"),
        (Verdict("deny", "not the web"), None, "not the web"),
        (Verdict("hint", "be brief"), Verdict("deny", "not the wiki"), "not the wiki"),
        (None, AMEND, "not called with these arguments"),
        (Verdict("hint", "be brief"), None, "from the web"),
        (AMEND, Verdict("hint", "so"), "from the web"),
    ],
)
async def test_the_guards_of_both_judge_the_call(
    first: Verdict | None, second: Verdict | None, text: str
) -> None:
    judged: list[tuple[str, Any]] = []

    def saying(verdict: Verdict | None, *, later: bool) -> Any:
        async def guard(call: Call, trajectory: Trajectory) -> Verdict | None:
            judged.append((call.action.name, call.args))
            return verdict

        def now(call: Call, trajectory: Trajectory) -> Verdict | None:
            judged.append((call.action.name, call.args))
            return verdict

        return guard if later else now

    one = made("web", "from the web", guard=saying(first, later=False))
    two = made("wiki", "", parameters=takes(("word",), word="string"))
    two = replace(two, guard=saying(second, later=True))
    observation, _, _ = await called(with_fallback(one, two, {"query": "word"}))
    assert text in observation.text
    word = "t" if first is AMEND else "tides"  # what the other would be called with
    assert judged[:2] == [("web", {"query": "tides"}), ("wiki", {"word": word})]


async def test_one_guard_is_enough() -> None:
    async def never(call: Call, trajectory: Trajectory) -> Verdict | None:
        return Verdict("deny", f"no {call.action.name}")

    one, two = made("web", DOWN), made("wiki", "", guard=never)
    assert "no wiki" in (await called(with_fallback(one, two)))[0].text
    assert SEEN == []


# ------------------------------------------------------------------------ crashes and probes


async def cut_at_last_attempt(run_id: str, store: MemoryStore) -> MemoryStore:
    """What a process leaves that died in the call, after its last attempt was on disk."""
    entries = (await read(run_id, store=store)).entries
    at = max(n for n, entry in enumerate(entries) if isinstance(entry.event, Attempt))
    lines = await store.read(run_id)
    cut = MemoryStore()
    epoch = await cut.create(run_id)
    await cut.append(Append(run_id, epoch, tuple(lines[: at + 1])))
    return cut


@pytest.mark.parametrize(("first", "second"), [("unsafe", "read"), ("idempotent", "idempotent")])
async def test_after_a_crash_neither_is_called_again(first: Effect, second: Effect) -> None:
    pair = with_fallback(made("web", DOWN, effect=first), made("wiki", "sent", effect=second))
    _, store, run_id = await called(pair)
    cut = await cut_at_last_attempt(run_id, store)
    SEEN.clear()
    await resume(Agent(model=ScriptedModel([say("Hm.")] * 2), tools=[pair]), run_id, store=cut)
    observation = (await read(run_id, store=cut)).calls[0].observation
    assert observation is not None
    assert (observation.outcome, SEEN) == ("unknown", [])


@pytest.mark.parametrize(
    ("web_knows", "wiki_knows", "text"),
    [("sent by web", None, "sent by web"), (None, "sent by wiki", "sent by wiki")],
)
async def test_after_a_crash_both_are_asked(
    web_knows: str | None, wiki_knows: str | None, text: str
) -> None:
    asked: list[Any] = []

    def knows(said: str | None) -> Any:
        async def probe(args: dict[str, Any], key: str) -> str | None:
            asked.append(args)
            return said

        return probe

    one = made("web", DOWN, effect="unsafe", attempts=Attempts(0.01, probe=knows(web_knows)))
    two = made(
        "wiki", "sent by wiki", effect="unsafe", attempts=Attempts(0.01, probe=knows(wiki_knows))
    )
    two = replace(two, parameters=takes(("word",), word="string"))
    pair = with_fallback(one, two, {"query": "word"})
    _, store, run_id = await called(pair)
    cut = await cut_at_last_attempt(run_id, store)
    await resume(Agent(model=ScriptedModel([say("Hm.")] * 2), tools=[pair]), run_id, store=cut)
    observation = (await read(run_id, store=cut)).calls[0].observation
    assert observation is not None
    assert observation.text == text
    assert asked == [{"query": "tides"}, {"word": "tides"}][: 1 if web_knows else 2]
    assert await pair.attempts.probe({"query": "x"}, "k") == text if pair.attempts.probe else False
    blind = with_fallback(one, replace(two, attempts=Attempts()), {"query": "word"})
    assert blind.attempts.probe is None  # of the one that cannot be asked nobody knows


async def test_nothing_known_by_either_did_not_happen() -> None:
    async def nothing(args: dict[str, Any], key: str) -> None:
        return None

    one = made("web", DOWN, effect="unsafe", attempts=Attempts(probe=nothing))
    pair = with_fallback(one, made("wiki", "", effect="read"))
    assert pair.attempts.probe is not None
    assert await pair.attempts.probe({"query": "x"}, "k") is None


async def test_a_task_of_the_other_is_asked_for_by_the_other() -> None:
    """Its id is on disk as the other's: after a crash the first is not asked for it."""
    told: list[tuple[str, str]] = []

    async def works(args: dict[str, Any], key: str) -> str:
        made = CALL.get()
        assert made is not None
        told.append((made.task, str(made.answer)))
        if not made.task:
            await made.begun("task-7")
        return "from the wiki"

    one = made("web", DOWN)
    pair = with_fallback(one, Tool("wiki", "Search.", QUERY, works, effect="read"))
    _, store, run_id = await called(pair)
    cut = await cut_at_last_attempt(run_id, store)
    SEEN.clear()
    await resume(Agent(model=ScriptedModel([say("Hm.")] * 2), tools=[pair]), run_id, store=cut)
    observation = (await read(run_id, store=cut)).calls[0].observation
    assert observation is not None
    assert "the call was already passed to the fallback tool" in observation.text
    assert told == [("", "None"), ("task-7", "None")]
    assert SEEN == []


async def test_the_other_cannot_ask_a_person_for_the_first() -> None:
    asks = Verdict("hold", "which sea?", asks={"type": "string"})
    observation, _, _ = await called(with_fallback(made("web", DOWN), made("sea", asks)))
    assert "it asks a person: call sea itself" in observation.text


async def test_it_can_be_called_without_a_run() -> None:
    pair = with_fallback(made("web", DOWN), made("wiki", "from the wiki"))
    found = await pair.call({"query": "tides"}, "k")
    assert found.text.endswith("from the wiki")
