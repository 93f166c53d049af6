"""Models in this process: a file of random weights, made here, is loaded by llama.cpp itself."""

import gc
import re
import signal
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, cast

import anyio
import gguf
import msgspec
import pytest

import clew
from clew.context import Instructions
from clew.core.contents import RawCall, Reply
from clew.core.events import Thought
from clew.core.journal import load
from clew.core.judging import Check
from clew.core.prompts import Part, Prompt
from clew.core.trajectory import Trajectory
from clew.models.resolve import resolve
from clew.support.extras import install_package
from clew_local import LocalModel, LocalSettings, local_model, read_header
from clew_local.api import with_calls
from clew_local.prompt_cache import PromptCache
from clew_local.settings import settings_from
from tests.local import local_worker
from tests.local.tiny_gguf import PLAIN_TEMPLATE, write_model

pytestmark = [pytest.mark.anyio]

Short = Annotated[str, msgspec.Meta(max_length=12)]
ROOMY = LocalSettings(context=60_000, slots=2, threads=1)


@clew.tool(effect="read")
def search(query: Short, top: int = 5) -> str:
    """Search the shelves."""
    return f"{top} books"


@clew.tool(effect="read")
def add(first: int, second: float, exact: bool) -> float:
    """Add two numbers."""
    return first + second


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("models") / "random.gguf")


def agent(
    file: Path,
    codec: str,
    *,
    steps: int = 4,
    checks: Sequence[Check] = (),
    seed: int = 0,
) -> clew.Agent[int]:
    """An agent whose replies are short: its tokens are bytes."""
    return clew.Agent(
        local_model(
            str(file), take=ROOMY, settings=clew.ModelSettings(max_tokens=6_000, temperature=1.5)
        ),
        [search, add],
        codec=codec,
        prompt=Instructions(thought=False),
        limits=clew.Limits(steps=steps, tokens=10**9, tool_calls=10**6, seconds=10**6),
        answer=int,
        checks=checks,
        tries=100,
        settings=clew.ModelSettings(seed=seed),
    )


async def record(made: clew.Agent[Any], question: str = "How many?") -> Trajectory:
    """A run of it, as its record has it."""
    store = clew.MemoryStore()
    async with closed(made):
        done = await clew.run(made, question, store=store)
    return await load(store, done.run_id)


@asynccontextmanager
async def closed(made: clew.Agent[Any]) -> AsyncGenerator[None]:
    """Close the connections of an agent's model."""
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            await cast("LocalModel", made.engine.model).close()


@pytest.mark.share(4)
@pytest.mark.parametrize(
    "least", [pytest.param(12, id="12"), pytest.param(100, id="100", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("codec", ["json", "labelled", "paper", "native"])
async def test_random_weights_cannot_write_what_is_not_of_the_format(
    file: Path, codec: str, least: int
) -> None:
    steps, seed = 0, 0
    while steps < least:
        seed += 1
        trajectory = await record(agent(file, codec, seed=seed))
        for step in trajectory.steps:
            assert step.thought is not None
            if step.thought.reply.finish == "length":  # random weights may never close a bracket
                continue
            assert (step.thought.fault, step.thought.repairs) == ("", ()), step.thought.reply
            assert all(not call.action.fault for call in step.calls)
        steps += len(trajectory.steps)


async def test_half_a_call_is_none(file: Path) -> None:
    model = local_model(
        str(file), take=ROOMY, settings=clew.ModelSettings(max_tokens=60, temperature=1.5)
    )
    limits = clew.Limits(steps=12, faults=12)
    made = clew.Agent(
        model, [search, add], codec="json", limits=limits, settings=clew.ModelSettings(seed=3)
    )
    thoughts = [step.thought for step in (await record(made)).steps if step.thought is not None]
    cut = [thought for thought in thoughts if thought.reply.finish == "length"]
    assert len(cut) > 2
    assert all("cut at its length limit" in thought.fault for thought in cut)
    assert not any(thought.actions for thought in cut)


async def test_without_a_grammar_they_do(file: Path) -> None:
    free = local_model(
        str(file),
        take=LocalSettings(4_000, 1, 1, grammar=False),
        settings=clew.ModelSettings(max_tokens=40),
    )
    made = clew.Agent(free, [search], codec="json", limits=clew.Limits(steps=2))
    trajectory = await record(made)
    assert trajectory.steps[0].thought is not None
    assert trajectory.steps[0].thought.fault


@pytest.mark.slow
async def test_what_a_prompt_has_in_common_with_the_one_before_is_not_read_again(
    file: Path,
) -> None:
    def never(answer: object, trajectory: Trajectory) -> str:
        return "guess again"

    trajectory = await record(agent(file, "json", steps=30, checks=[never]))
    usages = [step.thought.reply.usage for step in trajectory.steps if step.thought is not None]
    assert len(usages) >= 30
    later = usages[1:]
    assert sum(one.cached for one in later) >= 0.95 * sum(one.input for one in later)


async def test_runs_side_by_side_have_slots_of_their_own(file: Path) -> None:
    made = agent(file, "json")
    async with closed(made):
        done = await clew.batch(made, ["One?", "Two?", "Three?"], at_once=3)
    assert len({one.run_id for one in done}) == len(done)


async def test_a_reply_that_is_cancelled_ends_in_the_server_too(file: Path) -> None:
    endless = local_model(
        str(file), take=LocalSettings(60_000, 1, 1, grammar=False),
        settings=clew.ModelSettings(max_tokens=50_000, extra={"ignore_eos": True}),
    )  # fmt: skip
    begun = anyio.Event()

    made = clew.Agent(endless, [search], codec="json")
    async with closed(made), anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: clew.run(made, "Go on?", listener=Listener(begun)))
        await begun.wait()
        tasks.cancel_scope.cancel()
    with anyio.fail_after(60):  # the only slot is free again, long before 50,000 tokens
        await record(agent(file, "json"))


@pytest.mark.slow
@pytest.mark.parametrize("codec", ["json", "labelled", "paper", "native"])
@pytest.mark.parametrize("seconds", [0.01, 0.5])
@pytest.mark.parametrize("listened", [False, True])
async def test_the_seconds_of_a_run_end_what_the_model_loads_and_writes(
    file: Path, codec: str, seconds: float, listened: bool
) -> None:
    endless = local_model(
        str(file), take=LocalSettings(60_000, 1, 1, grammar=False),
        settings=clew.ModelSettings(max_tokens=50_000, extra={"ignore_eos": True}),
    )  # fmt: skip
    limits = clew.Limits(seconds=seconds, tokens=10**9)
    made = clew.Agent(endless, [search], codec=codec, limits=limits)
    listener = Listener(anyio.Event()) if listened else None
    async with closed(made):
        done = await clew.run(made, "Go on?", listener=listener)
    assert (done.status, "seconds" in done.reason) == ("bound", True)


def cut(file: Path, to: Path) -> Path:
    """The first half of a file."""
    to.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    return to


async def ask(path: Path, take: LocalSettings) -> None:
    """A run of a model that may not be there."""
    made = clew.Agent(local_model(str(path), take=take), [search], codec="json")
    await clew.run(made, "How many?")


async def test_what_cannot_be_loaded_is_said_in_one_line(file: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.gguf").write_text("no model at all")
    (tmp_path / "empty.gguf").touch()
    huge = LocalSettings(context=100_000, slots=10**9)
    for path, take, said in (
        (tmp_path / "none.gguf", ROOMY, "there is no file"),
        (tmp_path, ROOMY, "cannot be read"),
        (tmp_path / "notes.gguf", ROOMY, "is no GGUF file"),
        (tmp_path / "empty.gguf", ROOMY, "is no GGUF file"),
        (cut(file, tmp_path / "cut.gguf"), ROOMY, "llama.cpp cannot load"),
        (file, huge, "of memory and"),
    ):
        with pytest.raises(clew.ConfigError, match=said) as error:
            await ask(path, take)
        assert "\n" not in str(error.value)


def test_a_header_that_is_cut_anywhere_is_refused(file: Path, tmp_path: Path) -> None:
    whole = file.read_bytes()
    end = whole.index(b"tokenizer.chat_template")
    for length in range(0, end, 5):
        (tmp_path / "cut.gguf").write_bytes(whole[:length])
        with pytest.raises(clew.ConfigError, match="is no GGUF file"):
            read_header(tmp_path / "cut.gguf")


def test_a_header_may_hold_long_lists_and_a_number_for_each_layer(tmp_path: Path) -> None:
    writer = gguf.GGUFWriter(tmp_path / "odd.gguf", "odd")
    writer.add_array("odd.long", [0.5] * 5_000)
    writer.add_array("odd.attention.head_count_kv", [2, 4])
    writer.add_embedding_length(64)
    writer.add_block_count(2)
    writer.add_head_count(4)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    header = read_header(tmp_path / "odd.gguf")
    assert (header.architecture, header.cache_bytes) == ("odd", 2 * 4 * (16 + 16) * 2)
    nested = tmp_path / "nested.gguf"
    field = (1).to_bytes(8, "little") + b"x"
    lists = b"".join(number.to_bytes(4, "little") for number in (9, 9)) + (1).to_bytes(8, "little")
    head = b"GGUF" + (3).to_bytes(4, "little") + bytes(8) + (1).to_bytes(8, "little")
    nested.write_bytes(head + field + lists)
    with pytest.raises(clew.ConfigError, match="is no GGUF file"):
        read_header(nested)


CALL = r'"<tool_call>{\"name\": \"add\", \"arguments\": {}}</tool_call>"'
BAD_CALL = r'"hm <tool_call>{\"name\": 5}</tool_call>"'


@pytest.mark.parametrize("replies", [BAD_CALL, f"{CALL} [a-z]{{900}}"])
async def test_a_call_that_cannot_be_read_or_was_cut_is_no_call_of_the_reply(
    file: Path, replies: str
) -> None:
    reply = await only_reply(file, replies)
    assert "<tool_call>" in reply.text
    assert reply.calls == ()


async def test_a_call_in_tags_is_a_call_of_the_reply(file: Path) -> None:
    reply = await only_reply(file, f'"I add. " {CALL}')
    assert (reply.text, reply.finish) == ("I add.", "calls")
    assert reply.calls == (RawCall(name="add", arguments="{}"),)


async def only_reply(file: Path, replies: str) -> Reply:
    """The first reply of a model that can write nothing but `replies`, an expression in GBNF."""
    free = LocalSettings(8_000, 1, 1, grammar=False)
    told = clew.ModelSettings(max_tokens=120, extra={"grammar": f"root ::= {replies}"})
    model = local_model(str(file), take=free, settings=told)
    trajectory = await record(
        clew.Agent(model, [search], codec="native", limits=clew.Limits(steps=1))
    )
    assert trajectory.steps[0].thought is not None
    return trajectory.steps[0].thought.reply


async def test_a_model_that_was_never_asked_can_be_closed(file: Path) -> None:
    await local_model(str(file), take=ROOMY).close()


@pytest.mark.slow
async def test_runs_that_begin_together_load_the_file_once(file: Path) -> None:
    model = local_model(str(file), take=LocalSettings(8_000, 4, 1))
    made = clew.Agent(model, [search], codec="json", limits=clew.Limits(steps=1))
    async with closed(made):
        await clew.batch(made, ["One?", "Two?", "Three?", "Four?"], at_once=4)
    assert local_model(str(file), take=LocalSettings(8_000, 4, 1)).loaded


async def test_a_template_without_tools_needs_a_text_format(tmp_path: Path) -> None:
    plain = write_model(tmp_path / "plain.gguf", template=PLAIN_TEMPLATE)
    model = local_model(str(plain), take=ROOMY)
    with pytest.raises(clew.ConfigError, match="knows no tools: choose a text codec"):
        clew.Agent(model, [search], codec="native")
    assert clew.Agent(model, [search]).engine.codec.name == "json/2"  # by its few weights
    base = local_model(str(write_model(tmp_path / "base.gguf", template="")), take=ROOMY)
    with pytest.raises(clew.ConfigError, match="no chat template"):
        clew.Agent(base, [search], codec="json")


async def test_a_template_that_refuses_a_conversation_gets_one_that_it_takes(
    tmp_path: Path,
) -> None:
    strict = (
        "{%- for message in messages %}"
        "{%- if (message.role == 'user') != (loop.index0 % 2 == 0) %}"
        "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant') }}"
        "{%- endif %}"
    ) + PLAIN_TEMPLATE.removeprefix("{%- for message in messages %}")
    path = str(write_model(tmp_path / "strict.gguf", template=strict))
    model = local_model(path, take=ROOMY, settings=clew.ModelSettings(max_tokens=8))
    try:
        reply = await model.complete(Prompt((Part("user", "One."), Part("user", "Two.")), ()))
    finally:
        with anyio.CancelScope(shield=True):
            await model.close()
    assert reply.adapted is not None
    assert "roles" in reply.adapted.what


def test_calls_in_text_that_nest_without_end_stay_text() -> None:
    reply = Reply(f'<tool_call>{{"name": "add", "arguments": {"[" * 100_000}}}</tool_call>')
    assert with_calls(reply) == reply


async def test_a_prompt_that_does_not_fit_says_which_limit_to_raise(file: Path) -> None:
    made = clew.Agent(local_model(str(file), take=LocalSettings(512, 1, 1)), [search], codec="json")
    async with closed(made):
        with pytest.raises(clew.ModelError, match="raise CLEW_LOCAL_CONTEXT"):
            await clew.run(made, "How many?")


def test_without_llama_cpp_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("clew_local")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "xllamacpp", None)  # as if it were not installed
    with pytest.raises(clew.ConfigError, match=re.escape(f"run {install_package('clew-local')}")):
        resolve("local:any.gguf")


def test_a_name_without_a_file_says_what_to_write() -> None:
    with pytest.raises(clew.ConfigError, match=r"write local:PATH\.gguf"):
        resolve("local:")


def test_settings_come_from_the_environment() -> None:
    env = {"CLEW_LOCAL_CONTEXT": "900", "CLEW_LOCAL_SLOTS": "3", "CLEW_LOCAL_GRAMMAR": "false"}
    assert settings_from(env) == LocalSettings(900, 3, grammar=False)
    with pytest.raises(clew.ConfigError, match="CLEW_LOCAL_"):
        settings_from({"CLEW_LOCAL_SLOTS": "many"})
    with pytest.raises(clew.ConfigError, match="slots of a local model is 0"):
        LocalSettings(slots=0)


async def killed(file: Path, folder: Path, cache: str = "") -> tuple[int, Trajectory]:
    """A run whose worker was killed in a reply, gone on with by another, and its steps till then.

    With a cache the worker dies once it has kept what it read.
    """
    place = folder / "runs.sqlite"
    worker = [sys.executable, "-m", local_worker.__name__, str(file), str(place), cache]
    dead = await anyio.run_process(worker, cwd=Path(__file__).parents[2], check=False)
    assert dead.returncode == -signal.SIGKILL, dead.stderr
    store, again = clew.SqliteStore(place), local_worker.made(file, cache)
    done = len((await load(store, "killed")).steps)
    async with closed(again):
        ended = await clew.resume(again, "killed", store=store)
    trajectory = await load(store, "killed")
    await store.close()
    assert ended.status in {"answered", "bound"}
    return done, trajectory


@pytest.mark.slow
async def test_a_run_goes_on_whose_worker_was_killed_in_the_midst_of_a_reply(
    file: Path, tmp_path: Path
) -> None:
    _, trajectory = await killed(file, tmp_path)
    thoughts = [entry for entry in trajectory.entries if isinstance(entry.event, Thought)]
    assert len(thoughts) == len(trajectory.steps)
    assert all(one.epoch == 2 for one in thoughts)  # the dead worker recorded none


@pytest.mark.slow
async def test_what_a_killed_worker_had_read_of_the_prompt_is_found_again(
    file: Path, tmp_path: Path
) -> None:
    done, trajectory = await killed(file, tmp_path, str(tmp_path / "cache"))
    assert done >= 1
    thought = trajectory.steps[done].thought
    assert thought is not None
    last = trajectory.steps[done - 1].thought
    assert last is not None
    assert thought.reply.usage.cached >= 0.95 * last.reply.usage.input > 0


@pytest.mark.slow
async def test_a_cache_that_is_damaged_is_read_again_by_the_model(
    file: Path, tmp_path: Path
) -> None:
    cache = str(tmp_path / "cache")
    made = local_worker.made(file, cache)
    trajectory = await record(made)
    del made
    gc.collect()
    (kept,) = Path(cache).rglob("*.bin")
    kept.write_bytes(kept.read_bytes()[:1_000])
    again = await record(local_worker.made(file, cache))
    assert [step.thought.reply.text for step in again.steps if step.thought] == [
        step.thought.reply.text for step in trajectory.steps if step.thought
    ]


async def test_a_cache_that_cannot_be_written_holds_up_no_run(file: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    take = LocalSettings(context=60_000, slots=2, threads=1, cache=str(cache))
    model = local_model(str(file), take=take, settings=clew.ModelSettings(max_tokens=50))
    made = clew.Agent(model, [search], codec="json", limits=clew.Limits(steps=2))
    await record(made)
    (folder,) = cache.iterdir()
    for kept in folder.iterdir():
        kept.unlink()
        (kept / "in the way").mkdir(parents=True)
    assert (await record(made)).steps  # its file cannot be renamed
    cache.rename(tmp_path / "moved")
    assert (await record(made)).steps  # nor can one be made


def test_a_cache_whose_server_has_gone_is_left_as_it_is(
    file: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Gone:
        address = "http://127.0.0.1:1"
        key = ""

    cache = PromptCache(tmp_path, file, "1")
    (cache.folder / "slot-0.bin").touch()
    with caplog.at_level("INFO", "clew.models"):
        cache.restore(Gone(), 1)
    assert "no prompt cache" in caplog.text


async def test_a_cache_that_cannot_be_made_says_which_folder(file: Path, tmp_path: Path) -> None:
    (tmp_path / "notes").touch()
    with pytest.raises(clew.ConfigError, match="name a folder"):
        await record(local_worker.made(file, str(tmp_path / "notes")))


class Listener:
    """Hears that a reply has begun."""

    def __init__(self, begun: anyio.Event) -> None:
        self._begun = begun

    def token(self, text: str) -> None:
        """A piece of it."""
        self._begun.set()

    def entry(self, entry: clew.Entry) -> None:
        """An entry."""
