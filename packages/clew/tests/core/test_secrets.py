"""Secrets: what is blotted out, in which forms, and what a tool is called with all the same."""

import base64
import dataclasses
import json
from typing import Any
from urllib.parse import quote

import msgspec
import pytest

from clew import (
    Agent,
    Limits,
    MemoryStore,
    ReplayError,
    ToolError,
    Verdict,
    fork,
    read,
    replay,
    resume,
    rule,
    run,
    tool,
)
from clew.agent.runner import start
from clew.codecs.native import Native
from clew.core.actions import Action
from clew.core.contents import Observation, text_parts
from clew.core.events import Attempt, Note, Ruling, Started
from clew.core.journal import Journal
from clew.core.loop import advance
from clew.testing.models import ScriptedModel, act, say

SECRET = "p4ss/Wörd+#1"
CALLED: list[str] = []


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_PASSWORD", SECRET)
    CALLED.clear()


@tool(effect="unsafe")
def log_in(password: str) -> str:
    """Log in."""
    CALLED.append(password)
    return "welcome"


async def hold(call: Any, trajectory: Any) -> Verdict | None:
    return Verdict("hold", "ask first")


def agent(*moves: Any, **parts: Any) -> Agent:
    return Agent(model=ScriptedModel([*moves]), tools=[log_in], **parts)


async def bodies(store: MemoryStore, run_id: str = "r") -> str:
    return b"".join(line.body for line in await store.read(run_id)).decode()


RAW = SECRET.encode()
FORMS = {
    "plain": SECRET,
    "upper": SECRET.upper(),
    "hex": RAW.hex(),
    "hex, upper": RAW.hex().upper(),
    "base64": base64.b64encode(RAW).decode(),
    "base64 behind a name": base64.b64encode(b"me:" + RAW).decode(),
    "base64 behind two signs": base64.b64encode(b"a:" + RAW).decode(),
    "base64 for URLs": base64.urlsafe_b64encode(b"x" + RAW).decode(),
    "URL": quote(SECRET, safe=""),
    "JSON": json.dumps(SECRET)[1:-1],
    "JSON in JSON": json.dumps(json.dumps(SECRET)[1:-1])[1:-1],
}
SHAPES = {
    "AKIAIOSFODNN7EXAMPLE": "AKIAIOSFODNN7EXAMPLE",
    "Authorization: Bearer abcdefghij0123456789": "abcdefghij0123456789",
    "postgres://me:hunter22@db/x": "hunter22",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----": "MIIE",
    "ghp_" + "a1" * 18: "a1a1a1",
}


@pytest.mark.parametrize("form", FORMS)
async def test_a_known_secret_is_blotted_out_in_any_form(form: str) -> None:
    store = MemoryStore()
    await run(agent(say(f"It is {FORMS[form]}, so.")), "Which?", store=store, run_id="r")
    kept = await bodies(store)
    assert FORMS[form][4:-4].lower() not in kept.lower()
    # What a whole form of base64 begins and ends with depends on what stands beside it.
    assert ("[redacted]" if "base64" in form else "It is [redacted], so.") in kept


@pytest.mark.parametrize("text", SHAPES)
async def test_what_has_the_shape_of_a_secret_is_blotted_out(text: str) -> None:
    store = MemoryStore()
    await run(agent(say(f"It is {text} .")), "Which?", store=store, run_id="r")
    assert SHAPES[text] not in await bodies(store)


@pytest.mark.parametrize(
    "text", ["http://host:8000/a@b", "the bearer of news", "task-oriented", "AKIA", "https://a.b/c"]
)
async def test_what_is_no_secret_stays(text: str) -> None:
    store = MemoryStore()
    assert (await run(agent(say(text)), "Which?", store=store, run_id="r")).answer == text


@pytest.mark.parametrize("form", ["lower", "upper"])
async def test_a_secret_in_other_letters_is_found_in_either_case(
    form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_PASSWORD", "Öffne-Мне-Дверь")
    store, text = MemoryStore(), getattr("Öffne-Мне-Дверь", form)()
    await run(agent(say(f"It is {text}.")), "Which?", store=store, run_id="r")
    assert text not in (kept := await bodies(store))
    assert "It is [redacted]." in kept


NAMES = {
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI", "PGPASSWORD": "elephant-9", "SMTP_PASS": "letter-99",
    "STRIPE_SECRET_KEY": "stripe-1234", "NPM_TOKEN": "npm-123456",
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
async def test_names_of_secrets(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, NAMES[name])
    store = MemoryStore()
    await run(agent(say(f"<{NAMES[name]}>")), "Which?", store=store, run_id="r")
    assert NAMES[name] not in await bodies(store)


async def test_passwords_in_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    both = "postgresql://me:sesame-open@db/runs,postgresql://me:barley-shut@other/runs"
    monkeypatch.setenv("DATABASE_URL", both)
    store = MemoryStore()
    await run(agent(say("It is sesame-open, or barley-shut!")), "Which?", store=store, run_id="r")
    assert "sesame" not in (kept := await bodies(store))
    assert "barley" not in kept


async def test_a_tool_is_called_with_the_secret_that_its_record_does_not_hold() -> None:
    store, made = MemoryStore(), agent(act("log_in", password=SECRET), say("done"))
    await run(made, "Log in", store=store, run_id="r")
    assert CALLED == [SECRET]
    record = await read("r", store=store)
    assert record.call("1.1").action == Action("log_in", {"password": "[redacted]"}, redacted=True)
    await replay(made, "r", store=store)


async def test_a_person_s_word_with_a_secret_is_not_left_in_the_inbox() -> None:
    store = MemoryStore()
    made = agent(act("log_in", password="guess"), say("done"), guards=[hold])
    await run(made, "Log in", store=store, run_id="r")
    await rule("r:1.1", allow=True, args={"password": SECRET}, store=store)
    await rule("r:1.1", allow=True, args={"password": SECRET}, store=store)  # the same word
    ((_, word),) = await store.inbox("r")
    assert SECRET.encode() not in word
    await resume(made, "r", store=store)
    assert CALLED == []  # nobody who goes on knows it
    told = (await read("r", store=store)).call("1.1").observation
    assert told is not None
    assert "held a secret, which the record does not keep" in told.text
    await replay(made, "r", store=store)


async def test_a_pending_call_whose_secret_is_lost_is_refused_in_a_line() -> None:
    store, made = MemoryStore(), agent(act("log_in", password=SECRET), say("done"))
    await advance(
        made.engine, await start(made, "Log in", store, run_id="r")
    )  # then its worker is gone
    result = await resume(made, "r", store=store)
    assert (result.answer, CALLED) == ("done", [])
    assert not [e for e in (await read("r", store=store)).entries if isinstance(e.event, Attempt)]
    await replay(made, "r", store=store)


async def test_a_guard_sees_and_changes_what_the_tool_is_called_with() -> None:
    seen: list[str] = []

    async def lower(call: Any, trajectory: Any) -> Verdict | None:
        seen.append(call.args["password"])
        return Verdict("amend", "lower", args={"password": call.args["password"] + " "})

    store = MemoryStore()
    made = agent(act("log_in", password=SECRET), say("done"), guards=[lower])
    await run(made, "Log in", store=store, run_id="r")
    assert (seen, CALLED) == ([SECRET], [f"{SECRET} "])
    assert SECRET not in await bodies(store)
    await replay(made, "r", store=store)


async def trailing(call: Any, trajectory: Any) -> Verdict | None:
    return Verdict("amend", "as it is", args={"password": f"{call.args['password']} "})


@pytest.mark.parametrize("guards", [[], [trailing]], ids=["as written", "amended"])
@pytest.mark.parametrize("text", [SECRET, f"me:{SECRET}", FORMS["hex"], "ghp_" + "a1" * 18])
async def test_an_effect_with_a_secret_is_held_when_it_is_repeated(
    text: str, guards: list[Any]
) -> None:
    store, made = MemoryStore(), agent(act("log_in", password=text), say("done"), guards=guards)
    await run(made, "Log in", store=store, run_id="r")
    again = await fork(made, "r", at=0, store=store, new_id="f")
    assert (again.status, len(CALLED)) == ("held", 1)
    await replay(made, "f", store=store)
    assert text not in await bodies(store, "f")


async def test_one_with_other_words_beside_the_secret_is_another() -> None:
    store = MemoryStore()
    await run(agent(act("log_in", password=SECRET), say("k")), "Log in", store=store, run_id="r")
    other = agent(act("log_in", password=f"{SECRET} now"), say("done"))
    assert (await fork(other, "r", at=0, store=store)).status == "answered"
    assert len(CALLED) == 2


async def test_a_ruling_in_the_same_process_is_called_as_it_was_given() -> None:
    store = MemoryStore()
    made = agent(act("log_in", password="guess"), say("done"), guards=[hold])
    journal = await start(made, "Log in", store, run_id="r")
    for _ in range(2):
        await advance(made.engine, journal)
    await journal.record(Ruling("1.1", allow=True, args={"password": SECRET}))
    await advance(made.engine, journal)
    assert CALLED == [SECRET]


async def test_an_agent_whose_prompt_holds_a_secret_goes_on() -> None:
    store = MemoryStore()
    made = agent(say("one"), say("two"), prompt=f"Use {SECRET}.")
    await run(made, "First?", store=store, run_id="r")
    assert (await resume(made, "r", say="And?", store=store)).answer == "two"
    assert SECRET not in await bodies(store)


async def test_a_bare_journal_has_only_shapes_to_look_for() -> None:
    store = MemoryStore()
    made = agent(say("x"))
    journal = await Journal.create(store, Started(text_parts("g"), made.spec), "r")
    await journal.record(Note(text_parts(SECRET)), Note(text_parts("AKIAIOSFODNN7EXAMPLE")))
    said = [e.event.text for e in journal.trajectory.entries if isinstance(e.event, Note)]
    assert said == [SECRET, "[redacted]"]
    assert not [e for e in journal.trajectory.entries if isinstance(e.event, Observation)]


@dataclasses.dataclass(frozen=True)
class Deaf:
    """The usual format, but for the calls of a reply."""

    inner: Any = dataclasses.field(default_factory=Native)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def parse(self, prompt_spec: Any, reply: Any) -> Any:
        read = self.inner.parse(prompt_spec, reply)
        return msgspec.structs.replace(read, actions=read.actions[1:])


async def test_a_format_that_reads_fewer_calls_is_told_by_a_replay() -> None:
    """Marks of what was hidden go from call to call, and here there is one less."""
    store = MemoryStore()
    agent = Agent(model=ScriptedModel([act("nowhere"), say("Done.")]))
    found = await run(agent, "Go.", store=store)
    deaf: Any = Deaf()
    with pytest.raises(ReplayError, match="actions"):
        await replay(agent.replace(codec=deaf), found.run_id, store=store)


LONG_SECRET = "Tr0ub4dor-and-a-long-tail-of-it"


def looking(where: str, text: str) -> Any:
    """A tool that says a text, in one way or another."""

    @tool(effect="read")
    def look() -> str:
        """Look."""
        if where == "a result":
            return text
        raise (KeyError(text) if where == "a traceback" else ToolError(text))

    return look


@pytest.mark.parametrize(
    ("where", "before", "after"),
    [
        ("an error", 1_980, 9_000),
        ("the end of an error", 9_000, 5_930),
        ("a traceback", 1_700, 9_000),
        ("a result", 28_980, 9_000),
    ],
)
async def test_no_half_of_a_secret_is_left_where_a_text_is_cut(
    where: str, before: int, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", LONG_SECRET)
    for shift in range(0, 60, 4):
        look = looking(where, "x" * (before - shift) + LONG_SECRET + "x" * after)
        store, model = MemoryStore(), ScriptedModel([act("look"), say("ok")])
        agent = Agent(model, [look], limits=Limits(observation_bytes=30_000))
        await run(agent, "Look", store=store, run_id="r")
        record = await read("r", store=store)
        seen = record.call("1.1").observation
        assert seen is not None
        body = b"".join(line.body for line in await store.read("r")).decode()
        for piece in (LONG_SECRET[:6], LONG_SECRET[-6:]):
            assert piece not in body + seen.text + seen.detail
        assert (await replay(agent, "r", store=store)).trajectory.entries == record.entries
