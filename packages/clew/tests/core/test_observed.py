"""What comes of a call, as its one observation: sizes, texts and codes, and what is refused."""

from typing import Any

import msgspec
import pytest

from clew import Agent, Limits
from clew.core.actions import Action
from clew.core.blobs import put, split_blobs, with_blobs, without_blobs
from clew.core.contents import Evidence, Image, Observation, RawCall, Reply, Spending, Usage
from clew.core.done import described_effect, told_effect
from clew.core.events import Attempt, Forked, Judged, Ruling, Suspended
from clew.core.observations import (
    closed_answers,
    failed,
    from_sub_run,
    observed,
    refusal,
    refused_sub_run,
    replaced,
    shortened,
    trust_of,
)
from clew.core.steps import Call, args_hash
from clew.core.tools import Tool
from clew.core.values import encode
from clew.core.verdicts import Verdict
from clew.stores.memory import MemoryStore
from clew.support.errors import ConfigError
from clew.testing.models import ScriptedModel
from tests.core.records import SPEC, look, more, record, thought

READ: dict[str, Any] = {"effect": "read"}


async def called(args: Any, key: str) -> str:
    return ""


def tool(**fields: Any) -> Tool:
    return Tool("look", "Look.", {"type": "object"}, call=called, **(READ | fields))


def seen(value: Any, given: Tool | None = None, most: int = 10_000) -> Observation:
    given = given or tool()
    agent = Agent(ScriptedModel([]), [given], limits=Limits(observation_bytes=most))
    run = record(thought(look()))
    return observed(agent.engine, run, given, run.calls[0], value)


def test_a_value_is_an_observation_of_its_call() -> None:
    assert seen("a") == Observation("1.1", "a")
    assert seen({"a": [1, 2]}, tool(effect="unsafe", trust="trusted")) == Observation(
        "1.1", {"a": [1, 2]}, effect="unsafe", trust="trusted"
    )
    own = Observation(
        "9.9", "a", ok=False, code="tool_error", effect="unsafe", blob="b", detail="d"
    )
    assert seen(own) == Observation("1.1", "a", ok=False, code="tool_error", detail="d")


@pytest.mark.parametrize(
    ("source", "trust"), [("trusted", "untrusted"), ("untrusted", "untrusted")]
)
def test_nothing_is_to_be_trusted_after_what_was_not(source: Any, trust: str) -> None:
    run = record(thought(look()), Observation("1.1", "x"), thought(look()))
    assert trust_of(tool(trust=source), run) == trust
    assert trust_of(tool(trust=source), record(thought())) == source


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (object(), "returned what JSON cannot carry"),
        ({1: object()}, "returned what JSON cannot carry"),
        (Observation("", "a", trust="maybe"), "an observation whose trust is 'maybe'"),  # type: ignore[arg-type]  # as a part may say
        (Observation("", "a", attachments=(Image(7, b"x"),)), "media type of the image is a value"),  # type: ignore[arg-type]  # as a part may say
        (Observation("", "a", ok="yes"), "returned an observation that is none"),  # type: ignore[arg-type]  # as a part may say
        (Observation("", "a", evidence=(Evidence("d", 7),)), "evidence that is none"),  # type: ignore[arg-type]  # as a part may say
    ],
)  # fmt: skip
def test_what_no_record_can_hold_is_told(value: Any, why: str) -> None:
    told = seen(value)
    assert (told.ok, told.code, told.outcome, told.call) == (False, "bad_output", "done", "1.1")
    assert told.text.startswith("ERROR: bad_output: look returned ")
    assert why in told.text
    assert told.detail


def test_a_result_must_fit_its_schema_where_it_is_one() -> None:
    one = tool(result={"type": "integer"})
    assert seen(7, one).content == 7
    told = seen("7", one)
    assert told.text.startswith("ERROR: bad_output: look returned what it must not: ")
    assert (told.code, told.detail) == ("bad_output", "'7'")
    assert seen(Observation("", "no", ok=False), one).code == "", "a failure is no result"


def test_a_result_may_have_so_many_bytes_with_all_that_belongs_to_it() -> None:
    assert seen("x" * 9_998).ok
    told = seen("x" * 9_999)
    assert (told.code, told.outcome) == ("bad_output", "done")
    head, _, rest = told.text.partition("\n")
    assert head == (
        "ERROR: bad_output: look returned 10,001 bytes, and 10,000 may be kept: only the beginning "
        "is here, so ask for less"
    )
    assert 8_900 < len(rest) <= 8_998
    piece = (Evidence("d", "y" * 5_000),)
    size = len(encode(piece))
    assert seen(Observation("", "x" * (9_998 - size), evidence=piece)).ok
    assert not seen(Observation("", "x" * (9_999 - size), evidence=piece)).ok
    png = b"\x89PNG\r\n\x1a\n" + bytes(1_992)
    images = (Image("image/png", png, "t" * 1_000), Image("image/png", png))
    assert seen(Observation("", "x" * 4_998, attachments=images)).ok
    assert not seen(Observation("", "x" * 4_999, attachments=images)).ok
    data = seen({"a": "x" * 20_000})
    assert data.text.split("\n")[1].startswith('{"a":"xxx')
    assert seen('"' * 20_000).text.endswith('"')


def test_pictures_stand_beside_what_they_were_in() -> None:
    one, two = Image("image/png", b"\x89PNG\r\n\x1a\n"), Image("image/gif", b"GIF89a", "a cat")
    told = seen({"a": [one, {"b": two}], "c": 1})
    assert told.content == {"a": ["an image (image/png, 8 bytes)", {"b": "a cat"}], "c": 1}
    assert told.attachments == (one, two)
    both = seen(Observation("", [two], attachments=(one,)))
    assert (both.content, both.attachments) == (["a cat"], (one, two))


@pytest.mark.parametrize(("chars", "whole"), [(8_000, True), (8_001, False)])
def test_a_detail_is_shown_with_its_beginning_and_most_of_its_end(chars: int, whole: bool) -> None:
    text = "".join(chr(ord("a") + n % 26) for n in range(chars))
    mark = f"\n[… of {chars} characters the middle is left out …]\n"
    tail = text[-(6_000 - len(mark)) :]
    assert shortened(text) == (text if whole else f"{text[:2_000]}{mark}{tail}")
    assert len(shortened(text)) == min(chars, 8_000)


def test_a_refusal_says_what_is_known_of_the_call() -> None:
    call = Call("1.1", look())
    assert refusal(call, "denied", "no", "trusted") == Observation(
        "1.1", "ERROR: denied: no", ok=False, code="denied", outcome="not_done", trust="trusted"
    )
    assert refusal(call, "unknown_tool", "no").text == "ERROR: no"
    begun = Call("1.1", look(), begun=(Attempt("1.1", "look", "h", 1.0),))
    told = refusal(begun, "unknown", "x" * 9_000)
    assert (told.outcome, told.effect, told.trust) == ("unknown", "unsafe", "untrusted")
    assert len(told.text) == 8_000 + len("ERROR: unknown: ")


def test_a_failure_has_the_effect_of_its_tool() -> None:
    call = Call("1.1", look())
    told = failed(
        tool(effect="unsafe"), call, "crashed", "x", "unknown", "d\ud800", trust="trusted"
    )
    assert (told.effect, told.trust, told.outcome, told.ok) == (
        "unsafe",
        "trusted",
        "unknown",
        False,
    )
    assert told.detail.startswith("d")
    assert failed(tool(), call, "crashed", "x", "done").trust == "untrusted"


def finish(n: int) -> Action:
    return Action("finish", {"answer": n})


def test_of_several_answers_the_first_is_looked_at_last() -> None:
    step = record(thought(look(), finish(1), finish(2), finish(3))).step
    accepted = closed_answers(step)
    assert [(one.call, one.code, one.ok) for one in accepted] == [
        ("1.3", "cap", False), ("1.4", "cap", False), ("1.2", "", True),
    ]  # fmt: skip
    assert accepted[-1] == Observation(
        "1.2", "the answer was accepted", effect="pure", trust="trusted"
    )
    told = closed_answers(step, "rejected", "wrong")
    assert told[-1] == refusal(step.calls[1], "rejected", "wrong")
    assert closed_answers(record(thought(look())).step) == []
    run = more(record(thought(finish(1))), Observation("1.1", "x"))
    assert closed_answers(run.step) == []


def test_a_sub_run_has_its_spending_whatever_it_says() -> None:
    agent = Agent(ScriptedModel([]), [tool()])
    run, spent = record(thought(look())), Spending(1, 2, Usage(3))
    for content in ("a", object()):
        end = Observation("", content, spent=spent)
        assert from_sub_run(agent.engine, run, tool(), run.calls[0], end).spent == spent
    end = Observation("", "a", outcome="unknown", spent=spent)
    told = refused_sub_run(tool(effect="idempotent"), run.calls[0], "too late", end)
    assert told.text == "ERROR: denied: too late. Do not try it in another way."
    assert (told.outcome, told.effect, told.spent) == ("unknown", "idempotent", spent)


def test_a_person_may_put_another_in_its_place() -> None:
    was = Observation("1.1", "a", effect="unsafe", outcome="unknown", trust="trusted")
    assert replaced(was, "1.1", {"b": 1}) == Observation(
        "1.1", {"b": 1}, effect="unsafe", outcome="unknown"
    )
    read = Observation("1.1", "a", outcome="unknown")
    assert replaced(read, "1.1", "b") == Observation("1.1", "b")
    whole = Observation("9.9", "b", ok=False, code="timeout", trust="trusted", blob="x")
    assert replaced(was, "1.1", whole) == Observation(
        "1.1", "b", ok=False, code="timeout", effect="unsafe"
    )
    for wrong in (object(), Observation("", "a", ok="yes")):  # type: ignore[arg-type]  # as a part may say
        with pytest.raises(ConfigError, match=r"observation 1\.1 cannot be put on record"):
            replaced(was, "1.1", wrong)


LONG = "x" * 16_384
DIGEST = put(b"1", {})


class TestBlobs:
    async def back(self, event: Any) -> Any:
        """The line of an event, and the event that is read from it."""
        blobs: dict[str, bytes] = {}
        kept, body = split_blobs(event, encode(event), blobs)

        class Held(MemoryStore):
            async def blob(self, digest: str) -> bytes:
                return blobs[digest]

        read = await with_blobs(Held(), msgspec.json.decode(body, type=type(event)))
        return body, blobs, kept, read

    async def test_hold_long_contents(self) -> None:
        short = Observation("1.1", LONG[: 16_384 - 200])
        body, blobs, kept, read = await self.back(short)
        assert (blobs, kept, read, body) == ({}, short, short, encode(short))
        long = Observation("1.1", LONG)
        body, blobs, kept, read = await self.back(long)
        assert [*blobs.values()] == [encode(LONG)]
        assert read == kept
        assert (kept.content, kept.blob) == (LONG, next(iter(blobs)))
        assert len(body) < 200
        detailed = Observation("1.1", "a", detail=LONG)
        assert (await self.back(detailed))[1] == {}, "only contents"

    async def test_hold_pictures_once(self) -> None:
        one = Observation(
            "1.1", "a", attachments=(Image("image/png", b"1"), Image("image/gif", b"1"))
        )
        body, blobs, kept, read = await self.back(one)
        assert blobs == {DIGEST: b"1"}
        assert [image.blob for image in kept.attachments] == [DIGEST, DIGEST]
        assert [image.data for image in read.attachments] == [b"1", b"1"]
        assert read == kept
        assert b'"data"' not in body

    async def test_hold_long_arguments_as_they_were_written(self) -> None:
        text = '{"x": "' + LONG + '"}'
        action, other = look(x=LONG), look(y=LONG)
        same = RawCall(name="look", arguments=encode(action.args).decode())
        event = thought(
            action,
            other,
            reply=Reply(calls=(same, RawCall(name="look", arguments=text), RawCall(name="a"))),
        )
        body, blobs, kept, read = await self.back(event)
        assert len(blobs) == 3, "what was written with blanks, and what two of them say"
        assert len(body) < 1_000
        assert read == event == kept
        broken = thought(
            look(x=1), reply=Reply(calls=(RawCall(name="look", arguments="{" + LONG),))
        )
        assert (await self.back(broken))[3] == broken
        short = thought(
            look(x=1), reply=Reply(calls=(RawCall(name="look", arguments=LONG[:-400]),))
        )
        assert (await self.back(short))[1] == {}

    async def test_hold_what_a_call_left(self) -> None:
        event = Suspended("1.1", (look(x=LONG), look(x=1)), b"1")
        body, blobs, kept, read = await self.back(event)
        assert sorted(map(len, blobs.values())) == [1, len(encode({"x": LONG}))]
        assert (kept.state, kept.blob) == (b"", DIGEST)
        assert read == kept
        assert kept.actions == event.actions
        assert len(body) < 400
        empty = Suspended("1.1", (look(x=1),))
        assert (await self.back(empty))[1:] == ({}, empty, empty)

    async def test_hold_the_material_of_prompts(self) -> None:
        spec = msgspec.structs.replace(SPEC, prompt_spec={"a": 1})
        _, blobs, kept, read = await self.back(Forked("p", 1, spec))
        assert [*blobs.values()] == [b'{"a":1}']
        assert (kept.spec.prompt_spec, kept.spec.prompt_blob) == (None, next(iter(blobs)))
        assert read == kept
        bare = Forked("p", 1, SPEC)
        assert (await self.back(bare))[1:] == ({}, bare, bare)

    def test_are_named_by_nobody_else(self) -> None:
        reply = Reply(
            calls=(
                RawCall(name="look", arguments="{}", blob="b"),
                RawCall(name="a", arguments="{}"),
            )
        )
        event: Any = without_blobs(thought(Action("look", blob="b"), look(), reply=reply))
        assert [call.blob for call in event.reply.calls] == ["", ""]
        assert [action.blob for action in event.actions] == ["", ""]
        plain = thought(look(), reply=Reply(calls=(RawCall(name="a", arguments="{}"),)))
        assert without_blobs(plain) is plain
        asks = Suspended("1.1", (Action("look", {"x": 1}, blob="b"),))
        assert without_blobs(asks) == Suspended("1.1", (look(x=1),))


def post(**args: Any) -> Action:
    return Action("post", args)


def attempt(number: int = 1, **fields: Any) -> Attempt:
    return Attempt("1.1", "post", "h", 1.0, number, **fields)


UNKNOWN = Judged("1.1", Verdict("hold", "?", code="unknown"), "in doubt")


class TestAnEffectInALine:
    def test_names_call_arguments_and_outcome(self) -> None:
        run = record(thought(post(x=1)), attempt(received="r"), Observation("1.1", effect="unsafe"))
        done = described_effect(run, run.calls[0])
        assert (done.key, done.tool, done.hash) == ("run:1.1", "post", args_hash("post", {"x": 1}))
        assert (done.text, done.outcome, done.received) == ('post({"x":1})', "done", "r")
        assert done.handed == ()
        assert told_effect(run.calls[0]) == ('post({"x":1})', "done")
        bare = record(thought(post(x=1)), attempt())
        done = described_effect(bare, bare.calls[0])
        assert (done.outcome, done.received) == ("unknown", done.hash)

    def test_is_short(self) -> None:
        call = Call("1.1", post(x="y" * 500), observation=Observation("1.1"))
        text, _ = told_effect(call)
        assert len(text) == 200
        assert text.endswith("…")

    def test_was_made_by_the_run_that_had_its_step_first(self) -> None:
        run = record(thought(post()), attempt(), Forked("a", 1, SPEC), thought(post()))
        more(run, Attempt("2.1", "post", "h", 1.0), Forked("b", 2, SPEC))
        keys = [described_effect(run, call).key for call in run.calls]
        assert keys == ["a:1.1", "b:2.1"]
        more(run, thought(post()))
        assert described_effect(run, run.calls[2]).key == "run:3.1"

    def test_tells_to_whom_it_was_handed_on(self) -> None:
        given = [
            Attempt("1.1", "mail", "h", 1.0, handed="m"),
            Attempt("1.1", "fax", "h", 1.0, 2, handed="f"),
            Attempt("1.1", "mail", "h", 1.0, 3, handed="m"),
        ]
        run = record(thought(post(x=1)), *given)
        done = described_effect(run, run.calls[0])
        assert done.text == 'post({"x":1}), handed on to mail, fax'
        assert done.handed == ("m", "f")

    def test_tells_of_what_may_have_happened_before(self) -> None:
        run = record(thought(post(x=1)), attempt(received="r"), UNKNOWN)
        done = described_effect(run, run.calls[0])
        assert (done.text, done.outcome) == ('post({"x":1})', "unknown")
        more(run, Ruling("1.1", allow=True, args={"x": 2}), attempt(2))
        more(run, Observation("1.1", effect="unsafe"))
        done = described_effect(run, run.calls[0])
        assert done.text == 'post({"x":2}); before that perhaps post({"x":1})'
        assert (done.outcome, done.handed) == ("done", ("r",))
        assert done.hash == args_hash("post", {"x": 2})
        failed_then = record(thought(post(x=1)), attempt(), UNKNOWN, attempt(2))
        more(failed_then, Observation("1.1", ok=False, effect="unsafe", outcome="not_done"))
        assert told_effect(failed_then.calls[0])[1] == "unknown"

    def test_has_the_arguments_of_the_attempt_that_was_the_last(self) -> None:
        run = record(thought(post(x=1)), attempt(), UNKNOWN)
        more(run, Ruling("1.1", allow=True, args={"x": 2}))
        done = described_effect(run, run.calls[0])
        assert done.text == 'post({"x":1})'
        assert done.hash == args_hash("post", {"x": 1})
