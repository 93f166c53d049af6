"""What a public function cannot use is refused at its door, in one line that names the argument."""

from collections.abc import Callable
from typing import Any

import anyio
import pytest

import clew
from clew import Agent, ConfigError, MemoryStore
from clew.agent_files import load_agent
from clew.context import context_history
from clew.testing.models import ScriptedModel, say

C: Any = clew  # given what its types forbid
LOAD: Any = load_agent
STORE: Any = MemoryStore()


@pytest.fixture(scope="module")
def agent() -> Any:
    """An agent that has answered in the run `begun` of the store."""
    made = Agent(model=ScriptedModel([say("ok")]))
    clew.run_sync(made, "q", store=STORE, run_id="begun")
    return made


WRONG: list[tuple[Callable[[Any], Any], str]] = [
    (lambda a: C.run_sync("a", "q", store=STORE), "agent is 'a' (str): give an Agent"),
    (lambda a: C.run_sync(Agent, "q", store=STORE), "agent is Agent (type): give an Agent"),
    (lambda a: C.run_sync(a.model, "q", store=STORE), "(ScriptedModel): give an Agent"),
    (lambda a: C.run_sync(a, None, store=STORE), "the question is a value of the type NoneType"),
    (lambda a: C.run_sync(a, "q", store=5), "store is 5 (int): give a store, its place as"),
    (lambda a: C.run_sync(a, "q", store=MemoryStore), "store is MemoryStore (type): give a store"),
    (lambda a: C.run_sync(a, "q", store=[]), "store is [] (list)"),
    (lambda a: C.sync.read("begun", store={}), "store is {} (dict)"),
    (lambda a: C.sync.pending_approvals(store=b"runs"), "store is b'runs' (bytes)"),
    (lambda a: C.open_store(5), "store is 5 (int)"),
    (lambda a: C.SqliteStore(5), "path is 5 (int): give the path of a file"),
    (lambda a: C.sync.resume("a", "begun", store=STORE), "agent is 'a' (str)"),
    (lambda a: C.sync.result_of(None, "begun", store=STORE), "agent is None (NoneType)"),
    (lambda a: C.sync.replay("a", "begun", store=STORE), "agent is 'a' (str)"),
    (lambda a: C.sync.prompt_of("begun", "1", store=STORE), "step is '1': give a whole number"),
    (lambda a: C.sync.read("begun", at="1", store=STORE), "at is '1': give a whole number"),
    (lambda a: C.sync.fork(a, "begun", at=None, store=STORE), "at is None: give a whole number"),
    (lambda a: C.sync.fork(a, "begun", at=1.0, store=STORE), "at is 1.0: give a whole number"),
    (lambda a: C.sync.fork(a, "begun", at=True, store=STORE), "at is True: give a whole number"),
    (lambda a: C.sync.fork("a", "begun", at=1, store=STORE), "agent is 'a' (str)"),
    (
        lambda a: C.sync.fork(a, "begun", at=1, observations=["x"], store=STORE),
        "observations is ['x'] (list): give a dict by the keys of calls",
    ),
    (lambda a: C.sync.batch("a", ["x"], store=STORE), "agent is 'a' (str)"),
    (lambda a: C.sync.batch(a, "abc", store=STORE), "goals is 'abc' (str): give a list of"),
    (lambda a: C.sync.batch(a, None, store=STORE), "goals is None (NoneType)"),
    (lambda a: C.sync.batch(a, {"x"}, store=STORE), "goals is {'x'} (set)"),
    (lambda a: C.sync.batch(a, ["x", 5], store=STORE), "the question is a value of the type int"),
    (lambda a: C.sync.batch(a, ["x"], at_once="2", store=STORE), "at_once is '2': give 1 or more"),
    (lambda a: C.sync.batch(a, ["x"], at_once=1.5, store=STORE), "at_once is 1.5: give 1 or more"),
    (lambda a: C.sync.batch(a, ["x"], on_done=5, store=STORE), "on_done is 5 (int): give a func"),
    (lambda a: C.diff("begun", "other"), "left is 'begun' (str): give a record, as sync.read"),
    (lambda a: C.diff(C.sync.read("begun", store=STORE), None), "right is None (NoneType)"),
    (lambda a: context_history("begun"), "record is 'begun' (str): give a record"),  # type: ignore[arg-type]  # a wrong record
    (lambda a: LOAD(5), "path is 5 (int): give the path of an agent file"),
    (lambda a: LOAD(None), "path is None (NoneType)"),
    (lambda a: C.Context(rewinds=3), "rewinds is 3 (int): give Rewinds(…) or None"),
    (lambda a: C.Context(rewinds=C.Rewinds), "rewinds is Rewinds (type)"),
    (lambda a: C.Context(compaction=500), "compaction is 500 (int): give Compaction(…) or None"),
    (lambda a: C.Context().replace(rewinds=True), "rewinds is True (bool)"),
    (lambda a: C.sync.rewind("begun", to="1", lesson="x", store=STORE), "to is '1': give a whole"),
    (
        lambda a: C.sync.rewind("begun", to=0, lesson=5, store=STORE),
        "lesson is a value of the type",
    ),
    (lambda a: C.sync.submit("a", "q", store=STORE), "agent is 'a' (str)"),
    (lambda a: C.sync.submit(a, "q", queue=5, store=STORE), "queue is a value of the type int"),
    (lambda a: C.delegate("a", name="x", description="d"), "agent is 'a' (str)"),
    (
        lambda a: C.delegate(a, name="x", description="d", parameters=5, goal=str),
        "parameters is 5 (int): give a JSON Schema",
    ),
    (
        lambda a: C.delegate(a, name="x", description="d", parameters={"type": "object"}, goal=5),
        "goal is 5 (int): give a function of the arguments, or None",
    ),
    (lambda a: C.with_parser("a", "offline"), "agent is 'a' (str)"),
]


@pytest.mark.parametrize(("use", "why"), WRONG, ids=range(len(WRONG)))
def test_is_refused_at_the_door(agent: Any, use: Callable[[Any], Any], why: str) -> None:
    with pytest.raises(ConfigError) as refused:
        use(agent)
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


def test_no_run_of_a_batch_begins_where_one_question_is_wrong() -> None:
    store = MemoryStore()
    asked: Any = ["one", "two", 5]
    with pytest.raises(ConfigError):
        clew.sync.batch(Agent(model=ScriptedModel([say("ok")])), asked, store=store)
    assert anyio.run(store.runs) == []


def test_goals_may_be_a_tuple() -> None:
    done = clew.sync.batch(Agent(model=ScriptedModel([say("ok")])), ("a", "b"), store=MemoryStore())
    assert [each.answer for each in done] == ["ok", "ok"]
