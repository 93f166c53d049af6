"""Faults of single keys of an agent file: each in one line that names the place and the remedy."""

from pathlib import Path

import pytest

from clew import Agent, ConfigError, read, submit, tool
from clew.agent_files import (
    ForeignOriginError,
    Spec,
    agent_named,
    load_agent,
    make_agent,
    read_agent_file,
    refuse_foreign,
)
from clew.agent_files.fallbacks import knowing_fallbacks
from clew.agent_files.read import explained
from clew.agent_files.worker_agents import RecordedAgents
from clew.core.tools import AgentTool, FallbackTool

OFFLINE = 'model = "offline"\n'

FAULTS = {
    "grounded, and no such check": (
        f"{OFFLINE}[grounded]\nthreshold = 0.4\n",
        "my.toml, line 2: these are settings of a check: add 'grounded' to checks",
    ),
    "a connection of the rules": (
        f'{OFFLINE}[connection]\nbase_url = "http://127.0.0.1:1/v1"\n',
        "my.toml, line 3: the offline rules have no base_url: leave it out, or name another model",
    ),
    "a number of tries that is none": (
        f"{OFFLINE}tries = -1\n",
        "my.toml: tries is -1: give 0 or more",
    ),
    "tries of an agent that writes text": (
        'model = "ollama:any"\ncodec = "paper"\ntries = -1\n',
        "my.toml: tries is -1: give 0 or more",
    ),
    "a file nested too deeply": (f"a = {'[' * 5000}", "my.toml is nested too deeply"),
    "a date among prices": (
        f"{OFFLINE}[prices.any]\ninput = 1979-05-27\noutput = 1.0\n",
        "my.toml, line 2: prices: expected float, got date",
    ),
}


def written(folder: Path, text: str) -> Path:
    file = folder / "my.toml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(("text", "message"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_one_line_that_names_its_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_agent(written(tmp_path, text))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_values_that_do_not_fit_are_explained_without_a_file() -> None:
    unknown = "Object contains unknown field `stps` - at `$.limits`"
    assert explained(unknown) == "unknown key 'stps' in limits: did you mean steps?"


TORN = """
from clew import ConfigError, tool

@tool
def torn():
    'Tear.'

def make():
    return torn

def no_key():
    raise ConfigError("no key: set TORN_KEY")

def broken():
    return 1 / 0
"""


@pytest.mark.parametrize(
    ("tool", "guard", "message"),
    [
        ("no_key", "make", "no key: set TORN_KEY"),
        ("broken", "make", "the tool torn cannot be made: ZeroDivisionError: division by zero"),
        ("make", "broken", "the guard of the tool torn cannot be made: ZeroDivisionError: divisi"),
    ],
)
def test_a_tool_of_a_package_that_cannot_be_made_is_a_fault_of_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str, guard: str, message: str
) -> None:
    info = tmp_path / "torn-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: torn\nVersion: 1\n")
    entries = f"[clew.tools]\ntorn = torn_parts:{tool}\n[clew.guards]\ntorn = torn_parts:{guard}\n"
    (info / "entry_points.txt").write_text(entries)
    (tmp_path / "torn_parts.py").write_text(TORN)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError) as caught:
        load_agent(written(tmp_path, f'{OFFLINE}tools = ["calc", "torn"]\n'))
    assert f"my.toml, line 2: {message}" in str(caught.value)


EXTERNAL = """
[[external]]
name = "sign"
description = "A person signs the letter."
parameters = { letter = { type = "string" } }
timeout = 60.0
fallback = "unsigned"
effect = "idempotent"
"""


def test_a_tool_that_somebody_else_performs_takes_what_its_table_says(tmp_path: Path) -> None:
    agent = load_agent(written(tmp_path, OFFLINE + "tools = []" + EXTERNAL)).agent
    (sign,) = agent.tools
    assert (sign.name, sign.description) == ("sign", "A person signs the letter.")
    assert sign.effect == "idempotent"
    assert sign.parameters["required"] == ["letter"]
    assert sign.parameters["additionalProperties"] is False


def test_a_prompt_without_variants_is_as_it_stands(tmp_path: Path) -> None:
    text = f'{OFFLINE}[prompt]\npersona = "You are brief."\nvariants = false\n'
    instructions = load_agent(written(tmp_path, text)).agent.parts.instructions
    assert (instructions.persona, instructions.variants) == ("You are brief.", ())


def test_a_prompt_that_is_one_text_becomes_a_table_when_a_key_of_it_is_replaced() -> None:
    spec = Spec(model="offline", prompt="Be brief.").replace({"prompt.short": True})
    instructions = make_agent(spec).parts.instructions
    assert (instructions.persona, instructions.verbatim) == ("Be brief.", True)
    assert instructions.short is True


def test_a_sub_agent_of_a_record_is_handed_to_no_other_tool(tmp_path: Path) -> None:
    written(tmp_path, f"{OFFLINE}tools = []\n")
    text = '[[agents]]\nname = "other"\ndescription = "Asks."\nfile = "my.toml"\n'
    (tmp_path / "outer.toml").write_text(f'{OFFLINE}tools = ["calc", "ask_person"]\n{text}')
    spec = read_agent_file(tmp_path / "outer.toml")
    tools = {tool.name: tool for tool in make_agent(spec).tools}
    spec = spec.replace({"fallbacks": {"other": "calc", "ask_person": "other"}})
    assert knowing_fallbacks(spec, tools) == tools
    assert isinstance(tools["other"], AgentTool)


def test_a_tool_of_a_function_stands_in_with_what_it_could_be_handed_to(tmp_path: Path) -> None:
    spec = Spec(model="offline", tools=("calc",)).replace({"fallbacks": {"mine": "calc"}})

    @tool
    def mine(expression: str) -> str:
        """Do a sum."""
        return expression

    (calc,) = make_agent(Spec(model="offline", tools=("calc",))).tools
    stands_in = knowing_fallbacks(spec, {"mine": mine, "calc": calc})["mine"]
    assert isinstance(stands_in, FallbackTool)
    assert (stands_in.name, stands_in.first, stands_in.other.name) == ("mine", mine, "calc")


def test_a_file_of_memories_adds_its_tools(tmp_path: Path) -> None:
    agent = load_agent(written(tmp_path, f'{OFFLINE}tools = []\nmemory = "notes.db"\n')).agent
    assert [tool.name for tool in agent.tools] == ["remember", "memories"]


STRATEGY = """
model = "offline"
tools = ["calc"]
limits.calls_per_tool = { calc = 2 }
[strategy]
name = "reflexion"
reflector = "reflector.toml"
"""


def test_limits_on_tools_hold_in_all_that_a_strategy_runs(tmp_path: Path) -> None:
    pytest.importorskip("clew_strategies", reason="reflexion is one of its strategies")
    (tmp_path / "reflector.toml").write_text('prompt = "Say what to do otherwise."\n')
    agent = load_agent(written(tmp_path, STRATEGY)).agent
    assert agent.limits.calls_per_tool == {"calc": 2}
    with pytest.raises(ConfigError, match=r"my.toml, line 4: .*did you mean calc\?"):
        load_agent(written(tmp_path, STRATEGY.replace("{ calc", "{ clac")))


PROCESSES = """
[[processes]]
function = "own_sums:twice"
"""


async def submitted(file: Path, agent: Agent | None = None) -> str:
    """A run for a worker, with all that its file says on record."""
    made, said = await agent_named(str(file))
    return await submit(agent or made, "What is 2+2?", store=file.parent / "r.db", origin=said)


@pytest.mark.anyio
async def test_a_function_in_a_process_is_told_of_a_record_of_somebody_else(
    tmp_path: Path,
) -> None:
    (tmp_path / "own_sums.py").write_text('def twice(n: int) -> int:\n    "Twice."\n    return n\n')
    spec = read_agent_file(written(tmp_path, OFFLINE + PROCESSES))
    record = await read(await submitted(tmp_path / "my.toml"), store=tmp_path / "r.db")
    refuse_foreign(record, spec)
    record.foreign = True
    spec = spec.replace(
        {"programs": [{"name": "list", "description": "Lists.", "argv": ["ls", "-l"]}]}
    )
    with pytest.raises(ForeignOriginError, match="was not begun by you") as caught:
        refuse_foreign(record, spec)
    assert caught.value.__notes__ == [
        "  program list: ['ls', '-l'] in the working folder",
        "  module own_sums:twice in a process",
    ]


@pytest.mark.anyio
async def test_an_agent_that_differs_from_its_record_is_left_to_another_worker(
    tmp_path: Path,
) -> None:
    file = written(tmp_path, f'{OFFLINE}tools = ["calc"]\n')
    other = make_agent(Spec(model="offline", tools=("planner",)))
    record = await read(await submitted(file, other), store=tmp_path / "r.db")
    with pytest.raises(ConfigError, match=r"differs in .*tools.*: the run is left to a worker"):
        RecordedAgents()(record)


@pytest.mark.anyio
async def test_the_agent_made_first_of_very_many_is_forgotten(tmp_path: Path) -> None:
    file = written(tmp_path, f'{OFFLINE}tools = ["calc"]\n')
    record = await read(await submitted(file), store=tmp_path / "r.db")
    earlier = make_agent(Spec(model="offline"))
    recorded = RecordedAgents(made={b"%d" % number: earlier for number in range(256)})
    agent = recorded(record)
    assert agent is not None
    assert len(recorded.made) == 256
    assert b"0" not in recorded.made
    assert b"1" in recorded.made
