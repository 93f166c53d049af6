"""Parts of a user's own: how they may be given, and what becomes of those that do not behave."""

import asyncio
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import suppress
from typing import Any, cast

import anyio
import pytest

from clew import (
    Agent,
    ConfigError,
    Context,
    Instructions,
    Limits,
    ModelError,
    PartError,
    Tool,
    ToolError,
    Trajectory,
    Verdict,
    tool,
)
from clew.agent.api import run, run_sync
from clew.agent.runner import start
from clew.codecs.native import Native
from clew.context import PROMPT
from clew.context.variants import Variant
from clew.core.codec import Parsed, PromptSpec
from clew.core.contents import Observation, Reply
from clew.core.events import Note
from clew.core.execute import IN_DOUBT
from clew.core.journal import load
from clew.core.loop import run as go
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.core.replay import replay
from clew.core.tools import ToolSpec
from clew.core.trajectory import Call
from clew.stores.memory import MemoryStore
from clew.testing.models import ScriptedModel, act, finish, say
from clew.tools import Attempts, FunctionTool
from tests.patience import PATIENCE

pytestmark = pytest.mark.both_loops

SCRIPT = ScriptedModel([act("work"), say("done")])
SHORT = Limits(part_seconds=0.05, reply_seconds=0.05, grace=0.05)


def work(call: Any, **said: Any) -> Tool:
    """A tool `work` without arguments."""
    said = {"effect": "read", **said}
    return Tool("work", "Do the work.", {"type": "object", "properties": {}}, call, **said)


async def seen(tools: Sequence[Any], **said: Any) -> tuple[Observation, Trajectory]:
    """What came of one call of `work`, and the record, which can be replayed."""
    agent = Agent(SCRIPT, tools, **{"limits": SHORT, **said})
    store = MemoryStore()
    await run(agent, "Work!", store=store, run_id="run")
    record = await load(store, "run")
    assert (await replay(agent.engine, record, store)).trajectory.entries == record.entries
    observation = record.call("1.1").observation
    assert observation is not None
    return observation, record


# ---------------------------------------------------------------- what tools raise


class Own(BaseException):
    """No Exception."""


@pytest.mark.parametrize("effect", ["read", "unsafe"])
@pytest.mark.parametrize("kind", [SystemExit, GeneratorExit, Own, StopIteration])
async def test_a_tool_in_a_thread_may_raise_anything(effect: Any, kind: Any) -> None:
    @tool(name="work", effect=effect)
    def quits() -> str:
        """Quit."""
        raise kind

    observation, _ = await seen([quits])
    assert observation.code == "crashed"
    assert observation.outcome == ("unknown" if effect == "unsafe" else "not_done")


def test_a_tool_that_exits_ends_no_program() -> None:
    @tool(name="work", effect="read")
    def quits() -> str:
        """Quit."""
        sys.exit("enough")

    result = run_sync(Agent(SCRIPT, [quits]), "Work!", store=MemoryStore())
    assert result.answer == "done"


async def test_a_tool_that_raises_at_once_is_crashed_too() -> None:
    def call(args: dict[str, Any], key: str) -> Any:
        raise SystemExit

    assert (await seen([work(call)]))[0].code == "crashed"


async def test_a_tool_error_may_hold_what_cannot_be_read() -> None:
    class Mute:
        def __str__(self) -> str:
            raise Own

    async def call(args: dict[str, Any], key: str) -> Any:
        raise ToolError(Mute())

    observation, _ = await seen([work(call)])
    assert observation.text == "ERROR: tool_error: (its message cannot be read: Own)"


async def test_a_real_interrupt_is_nobodys_fault() -> None:
    async def call(args: dict[str, Any], key: str) -> Any:
        raise KeyboardInterrupt

    store = MemoryStore()
    with pytest.raises(KeyboardInterrupt):
        await run(Agent(SCRIPT, [work(call)]), "Work!", store=store, run_id="run")
    assert (await load(store, "run")).stop is None


async def test_a_tool_may_answer_at_once_or_with_anything_that_can_be_awaited() -> None:
    class Later:
        def __await__(self) -> Generator[Any, Any, str]:
            yield from anyio.lowlevel.checkpoint().__await__()
            return "later"

    assert (await seen([work(lambda args, key: "at once")]))[0].text == "at once"
    assert (await seen([work(lambda args, key: Later())]))[0].text == "later"


# ---------------------------------------------------------------- what does not end


async def test_what_a_deaf_tool_comes_to_in_the_end_is_a_note() -> None:
    may_end = anyio.Event()

    async def deaf(args: dict[str, Any], key: str) -> str:
        with anyio.CancelScope(shield=True):
            await may_end.wait()
        return "sent after all"

    class Patient(ScriptedModel):
        async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
            if len(prompt.parts) == 2:
                may_end.set()
                while not journal.words:
                    await anyio.lowlevel.checkpoint()
            return await super().complete(prompt, on_text)

    model = Patient([act("work"), act("other"), say("done")])
    other = Tool("other", "Other.", {"type": "object"}, work(deaf).call, effect="read")
    tools = [work(deaf, effect="unsafe", attempts=Attempts(0.05)), other]
    agent = Agent(model, tools, limits=Limits(grace=0.05))
    journal = await start(agent, "Work!", MemoryStore(), run_id="run")
    record = await go(agent.engine, journal)
    observation = record.call("1.1").observation
    assert observation is not None
    assert (observation.code, observation.outcome) == ("timeout", "unknown")
    assert observation.text == (
        "ERROR: timeout: work did not end in 0.05 s, nor when it was stopped: it was left alone. "
        + IN_DOUBT.format(tool="It")
    )
    notes = [entry.event.text for entry in record.entries if isinstance(entry.event, Note)]
    assert notes == ["work (call 1.1) ended after its deadline: sent after all"]
    assert (await replay(agent.engine, record, MemoryStore())).trajectory.entries == record.entries


@pytest.mark.parametrize("heeds", [True, False])
async def test_a_part_that_gives_no_answer_is_named(*, heeds: bool) -> None:
    async def silent(call: Any, trajectory: Any) -> None:
        try:
            await anyio.sleep_forever()
        except BaseException:
            if heeds:
                raise

    agent = Agent(
        model=ScriptedModel([act("work"), say("done")]),
        tools=[work(double)],
        guards=[silent],
        limits=Limits(part_seconds=0.05, grace=PATIENCE),
    )
    how = "" if heeds else ", and ignored that it was stopped"
    why = f"silent gave no answer in 0.05 s{how}: mend it, or raise the limit part_seconds, and res"
    with pytest.raises(PartError, match=why):
        await run(agent, "Work!", store=MemoryStore())


async def test_a_late_result_may_have_no_words() -> None:
    class Mute:
        def __str__(self) -> str:
            raise Own

    async def hurried(args: dict[str, Any], key: str) -> Any:
        with suppress(anyio.get_cancelled_exc_class()):
            await anyio.sleep_forever()
        return Mute()

    _, record = await seen([work(hurried, attempts=Attempts(0.05))], limits=Limits(grace=5.0))
    [note] = [entry.event.text for entry in record.entries if isinstance(entry.event, Note)]
    assert note.startswith("work (call 1.1) ended after its deadline: ")
    assert note.endswith("(Mute)")


async def test_what_a_tool_gives_while_the_run_is_cancelled_is_kept() -> None:
    async def last(args: dict[str, Any], key: str) -> str:
        scope.cancel()
        return "sent"

    store = MemoryStore()
    with anyio.CancelScope() as scope:
        await run(Agent(SCRIPT, [work(last, effect="unsafe")]), "Work!", store=store, run_id="run")
    observation = (await load(store, "run")).call("1.1").observation
    assert observation is not None
    assert (observation.text, observation.outcome) == ("sent", "done")


@pytest.mark.parametrize("fails", [False, True])
async def test_what_a_tool_gives_after_it_was_stopped_is_told_apart(*, fails: bool) -> None:
    async def hurried(args: dict[str, Any], key: str) -> str:
        try:
            await anyio.sleep_forever()
        except BaseException as error:
            if fails:
                raise OSError("the line is dead") from error
        return "half of it"

    observation, record = await seen(
        [work(hurried, attempts=Attempts(0.05))], limits=Limits(grace=5.0)
    )
    assert (observation.code, observation.outcome) == ("timeout", "not_done")
    assert "ignored that it was stopped" in observation.text
    notes = [entry.event.text for entry in record.entries if isinstance(entry.event, Note)]
    word = "OSError: the line is dead" if fails else "half of it"
    assert notes == [f"work (call 1.1) ended after its deadline: {word}"]


@pytest.mark.parametrize("stubborn", [False, True])
async def test_a_run_that_is_cancelled_waits_for_no_deaf_tool(*, stubborn: bool) -> None:
    begun, over = anyio.Event(), threading.Event()

    async def deaf(args: dict[str, Any], key: str) -> str:
        begun.set()
        while not over.is_set():  # where it outlives its loop, Python itself would not end
            try:
                await anyio.sleep_forever()
            except GeneratorExit:
                if not stubborn:
                    raise
            except BaseException:  # noqa: BLE001 - the point of it
                continue
        return "deaf"

    agent = Agent(SCRIPT, [work(deaf)], limits=SHORT)
    store = MemoryStore()
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: run(agent, "Work!", store=store, run_id="run"))
        await begun.wait()
        group.cancel_scope.cancel()
    over.set()
    assert (await load(store, "run")).stop is None


async def test_a_model_that_cancels_itself_fails(anyio_backend: str) -> None:
    """On trio nobody can cancel in asyncio's way: there it is like an exit."""
    kind = ModelError if anyio_backend == "asyncio" else PartError

    class Fickle(ScriptedModel):
        async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
            raise asyncio.CancelledError

    with pytest.raises(kind, match="scripted:test failed: CancelledError"):
        await run(Agent(Fickle(())), "What?", store=MemoryStore())


async def test_a_model_that_ships_fails_in_one_line_too() -> None:
    def script(prompt: Prompt) -> Any:
        raise KeyError("x")

    with pytest.raises(PartError, match="the model scripted:test failed: KeyError: 'x'"):
        await run(Agent(ScriptedModel([script])), "What?", store=MemoryStore())


async def test_a_reply_that_is_none_is_the_models_fault() -> None:
    class Empty(ScriptedModel):
        async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Any:
            return None

    class Wrong(ScriptedModel):
        async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Any:
            return Reply(text=None, calls=5)  # type: ignore[arg-type]  # the point of it

    with pytest.raises(ModelError, match=r"gave None \(NoneType\), which is no Reply"):
        await run(Agent(Empty(())), "What?", store=MemoryStore())
    with pytest.raises(ModelError, match="gave no true Reply"):
        await run(Agent(Wrong(())), "What?", store=MemoryStore())


# ---------------------------------------------------------------- how parts may be given


def double(number: int) -> int:
    """Double a number."""
    return 2 * number


@pytest.mark.parametrize("error", [KeyError("x"), ModelError("it is away")])
async def test_a_codec_that_fails_before_the_model_is_asked_is_named(error: Exception) -> None:
    class Failing(Native):
        @property
        def name(self) -> str:
            return "own/1"

        def tail(self, prompt_spec: PromptSpec, notes: Sequence[str], step: int) -> Any:
            raise error

    agent = Agent(ScriptedModel([say("It is.")]), codec=Failing())
    named = "^the codec own/1 failed: KeyError" if isinstance(error, KeyError) else "^it is away$"
    with pytest.raises((PartError, ModelError), match=named):
        await run(agent, "Is it?", store=MemoryStore())


async def test_a_plain_function_is_a_tool_and_a_tool_is_still_a_function() -> None:
    agent = Agent(ScriptedModel([act("double", number=4), say("8")]), [double])
    assert (await run(agent, "Double it!", store=MemoryStore())).answer == "8"
    assert (agent.tools[0].name, agent.tools[0].effect) == ("double", "unsafe")
    first = agent.tools[0]
    assert isinstance(first, FunctionTool)
    assert first(21) == tool(effect="pure")(double)(number=21) == 42


async def test_parts_that_answer_at_once_need_no_async() -> None:
    asked: list[str] = []

    def guard(call: Call, trajectory: Trajectory) -> Verdict | None:
        asked.append("guard")
        return None

    def check(answer: Any, trajectory: Trajectory) -> str | None:
        asked.append("check")
        return None

    def screen(text: str) -> Verdict | None:
        asked.append("screen")
        return None

    class Finder:
        always = ("work",)

        def __repr__(self) -> str:
            return "Finder()"

        def find(self, tools: Sequence[ToolSpec], trajectory: Trajectory) -> Sequence[str]:
            asked.append("finder")
            return []

    observation, _ = await seen(
        [work(lambda args, key: "ok")],
        guards=[guard], checks=[check], screens=[screen], context=Context(retrieval=Finder()),
    )  # fmt: skip
    assert observation.ok
    assert set(asked) == {"guard", "check", "screen", "finder"}


class Klass:
    """A guard, if it were made."""

    async def __call__(self, call: Call, trajectory: Trajectory) -> None:
        """Say yes."""


async def narrow(call: Call) -> None:
    """Take one thing only."""


async def awaited(trajectory: Trajectory) -> None:
    """Be a bound that nobody awaits."""


class Nameless:
    def __call__(self, *args: Any) -> None:
        return None


class Mute(Nameless):
    def __repr__(self) -> str:
        raise RuntimeError("no name")


class Half:
    info, name = ModelInfo("half"), "half"


class Shy:
    @property
    def info(self) -> ModelInfo:
        raise KeyError("x")


class OddFormat:
    name = "odd/1"
    stop = ()
    native = True
    render = tail = reply_schema = parse = stream_filter = staticmethod(lambda *given: None)

    def head(self, prompt_spec: Any, goal: str) -> Any:
        raise KeyError("x")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"guards": [Klass]}, r"the guard Klass is a class: give an instance, Klass\("),
        ({"guards": [narrow]}, r"the guard narrow is called with \(call, trajectory\)"),
        ({"guards": ["narrow"]}, r"'narrow' \(str\) is no guard: give a function of \(call"),
        ({"guards": [tool(double)]}, "is no guard"),
        ({"guards": narrow}, "guards is narrow .*: give a list of functions"),
        ({"guards": 5}, r"guards is 5 \(int\): give a list"),
        ({"checks": [narrow]}, "the check narrow is called with"),
        ({"screens": [Klass()]}, "the screen Klass is called with"),
        ({"bounds": [awaited]}, "the bound awaited is async, and has to answer at once"),
        ({"bounds": [Nameless()]}, "has another name in every process"),
        ({"bounds": [Mute()]}, "a Mute cannot be named: its repr raises RuntimeError: no name"),
        ({"tools": double}, "tools is double .*: give a list of functions and tools"),
        ({"tools": [Klass]}, "Klass .* is a class: give a function"),
        ({"tools": [5]}, r"5 \(int\) is no tool"),
        (
            {"tools": [work(double, repair=double, attempts=Attempts(probe=cast("Any", narrow)))]},
            "the probe narrow is called with",
        ),
        ({"prompt": double}, r"prompt is double .*: give the text it returns, or Instructions"),
        ({"prompt": 5}, r"prompt is 5 \(int\): give a text or Instructions"),
        (
            {"prompt": Instructions("Work.", tail=cast("Any", double))},
            "the tail double is called with",
        ),
        (
            {
                "prompt": PROMPT.replace(
                    variants=(Variant(name="v", match=("*",), shape=cast("Any", narrow)),)
                )
            },
            "the shape narrow is async, and has to answer at once",
        ),
        ({"system_prompt": "x"}, "an agent has no 'system_prompt': say prompt"),
        ({"max_steps": 5}, r"an agent has no 'max_steps': say limits=Limits\(steps=…\)"),
        ({"steps": 5}, r"an agent has no 'steps': say limits=Limits\(steps=…\)"),
        ({"gards": []}, "an agent has no 'gards': say guards"),
        ({"system": "x"}, "an agent has no 'system': say prompt$"),
        ({"instructions": "x"}, "an agent has no 'instructions': say prompt$"),
        ({"functions": []}, "an agent has no 'functions': say tools$"),
        ({"output_type": int}, "an agent has no 'output_type': say answer$"),
        ({"response_format": int}, "an agent has no 'response_format': say answer$"),
        ({"max_iterations": 5}, r"no 'max_iterations': say limits=Limits\(steps=…\)$"),
        ({"max_tokens": 5}, r"no 'max_tokens': say settings=ModelSettings\(max_tokens=…\)$"),
        ({"temperature": 1}, r"no 'temperature': say settings=ModelSettings\(temperature=…\)$"),
        ({"tries": 5, "zzzzzz": []}, "an agent has no 'zzzzzz': there are model, tools, "),
        ({"prompt": ["x" * 58]}, r"prompt is \['x{57}… \(list\): give a text"),
        ({"codec": Half()}, "the codec .* has stop = None"),
        ({"codec": OddFormat()}, "the codec odd/1 failed when the agent was made: KeyError: 'x'"),
        ({"context": Context(cast("Any", Half()))}, "the retrieval .* has always = None"),
        (
            {"model": Half()},
            r"the model .* has complete = None .*: name one \(\"provider:model\"\)",
        ),
        ({"model": ScriptedModel}, "the model ScriptedModel is a class: give an instance"),
        ({"model": Shy()}, "info of the model failed when the agent was made: KeyError: 'x'"),
    ],
)
def test_what_cannot_work_is_refused_when_the_agent_is_made(said: Any, why: str) -> None:
    with pytest.raises(ConfigError, match=why) as error:
        Agent(**{"model": SCRIPT, **said})
    assert "\n" not in str(error.value)


def test_an_agent_without_a_model_says_so() -> None:
    with pytest.raises(ConfigError, match="an agent needs a model: name one"):
        Agent(tools=[double])  # type: ignore[call-arg]  # the point of it


def test_a_part_may_say_itself_why_it_cannot_be_used() -> None:
    class Keyless(ScriptedModel):
        def __getattribute__(self, name: str) -> Any:
            if name == "settings":
                raise ConfigError("no key: set KEY")
            return super().__getattribute__(name)

    with pytest.raises(ConfigError, match=r"^no key: set KEY$"):
        Agent(Keyless([]))


async def test_a_format_may_say_itself_why_it_cannot_read() -> None:
    class Strict(Native):
        def parse(self, prompt_spec: PromptSpec, reply: Reply) -> Parsed:
            raise PartError("the model is too new for this format: update it")

    agent = Agent(ScriptedModel([say("done")]), codec=Strict())
    with pytest.raises(PartError, match=r"^the model is too new"):
        await run(agent, "Work!", store=MemoryStore())


def test_what_does_not_tell_its_arguments_is_taken_on_trust() -> None:
    bound: Any = max
    assert bound in Agent(SCRIPT, bounds=[bound]).bounds


# ---------------------------------------------------------------- answers


class Fussy:
    """An answer's type, in the place of a pydantic model, that breaks when it is read."""

    @classmethod
    def model_json_schema(cls, ref_template: str = "", mode: str = "") -> dict[str, Any]:
        return {"type": "object", "properties": {}}

    @classmethod
    def model_validate_json(cls, body: bytes, *, strict: bool) -> Any:
        raise KeyError("x")


async def test_an_answers_type_that_breaks_is_named() -> None:
    agent = Agent(ScriptedModel([finish({})], answer=dict), answer=Fussy)
    store = MemoryStore()
    with pytest.raises(PartError, match="the answer's type failed: KeyError: 'x'"):
        await run(agent, "What?", store=store, run_id="run")
    assert (await load(store, "run")).stop is None


async def test_a_check_changes_neither_the_answer_nor_what_the_next_one_sees() -> None:
    seen_by: list[Any] = []

    def spoil(answer: Any, trajectory: Trajectory) -> None:
        seen_by.append(dict(answer))
        answer.clear()

    def look(answer: Any, trajectory: Trajectory) -> None:
        seen_by.append(dict(answer))

    script = ScriptedModel([finish({"a": [1]})], answer=dict)
    agent = Agent(script, answer=dict[str, list[int]], checks=[spoil, look])
    assert (await run(agent, "What?", store=MemoryStore())).answer == {"a": [1]}
    assert seen_by == [{"a": [1]}] * 2


@pytest.mark.parametrize("denied", [False, True])
async def test_an_answer_that_is_wrong_again_and_again_is_counted(*, denied: bool) -> None:
    async def deny(call: Call, trajectory: Trajectory) -> Verdict:
        return Verdict("deny", "not like this")

    wrong: Any = "x" if denied else {"a": 1}
    guards = [deny] if denied else []
    agent = Agent(ScriptedModel([finish(wrong)] * 40), guards=guards, fallback="?")
    result = await run(agent, "What?", store=(store := MemoryStore()), run_id="run")
    assert (result.status, result.steps, result.answer) == ("failed", 3, "?")
    assert ("not like this" if denied else "answer") in result.reason
    record = await load(store, "run")
    assert (await replay(agent.engine, record, store)).trajectory.entries == record.entries


async def test_a_thread_that_a_tool_started_and_left_is_nobodys_concern() -> None:
    may_end = threading.Event()

    @tool(name="work", effect="read")
    def starts() -> str:
        """Start a thread."""
        threading.Thread(target=may_end.wait, args=(60,), daemon=True).start()
        return "started"

    assert (await seen([starts]))[0].text == "started"
    may_end.set()


async def amiss(words: str) -> Any:
    return 5


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"screens": [amiss]}, r"the screen .*amiss gave 5 \(int\): it must give a Verdict or"),
        (
            {"prompt": Instructions("Work.", tail=cast("Any", lambda trajectory, left: 5))},
            r"<lambda> gave 5 \(int\): it must give a text \(\"\" for nothing\); mend",
        ),
    ],
)
async def test_what_a_part_must_give_is_said(said: Any, why: str) -> None:
    with pytest.raises(PartError, match=why):
        await run(Agent(SCRIPT, [work(double)], **said), "Work!", store=MemoryStore())
