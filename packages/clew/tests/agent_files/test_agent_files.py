"""Agent files: what they say, what is told of them where they are wrong, and with which line."""

import re
import typing
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Agent, ConfigError, MemoryStore, Tool, read, replay, run
from clew.agent.subagents import Delegation
from clew.agent_files import TEMPLATE, load_agent, make_agent, read_agent_file, spec_of, stand_ins
from clew.agent_files.spec import FileTable, LimitsTable, ProcessTable, Spec
from clew.agent_files.strategy_table import StrategyTable
from clew.agent_files.toml_positions import line_of
from clew.core.tools import AgentTool
from clew.evidence import CANNOT_ANSWER, Grounded
from clew.models.http.endpoint import Endpoint
from clew.models.http.rate_limit import pace_of
from clew.models.rate import Rate
from clew.testing.models import ScriptedModel, act, finish, say
from clew_testing.servers.openai_server import OpenAIServer, Say

OWN = '''
from dataclasses import dataclass
from clew import Tool, Verdict, tool

@tool(effect="pure")
def weather(city: str) -> str:
    """The weather."""
    return f"sunny in {city}"

async def no_paris(call, so_far):
    """A guard."""
    return Verdict("deny", "not Paris") if call.args.get("city") == "Paris" else None

def never(so_far):
    return None

def at_once(so_far):
    return "no time"

async def short(answer, so_far):
    return None if len(answer.text) < 20 else "too long"

@dataclass
class Said:
    text: str

def twice(number: int) -> int:
    """Twice the number."""
    return 2 * number

def letters(texts):
    return [[float(text.count(letter)) for letter in "aeiou"] for text in texts]

not_callable = 3

class Odd:
    pass
odd = Tool("odd", "Odd.", {"type": "object", "properties": {"a b": {"type": "string"}}}, print)
unfit = Tool("unfit", "Unfit.", {"type": "array"}, print)
'''


def written(folder: Path, text: str) -> Path:
    (folder / "own_parts.py").write_text(OWN)
    (folder / "own_exit.py").write_text("raise SystemExit(3)")
    (folder / "own_needs.py").write_text("import not_here_at_all")
    file = folder / "my.toml"
    file.write_text(text)
    return file


async def test_an_agent_is_what_its_file_says(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("Lighthouses are kept by Ada.")
    file = written(
        tmp_path,
        """
        model = "offline"
        docs = "notes"
        store = "runs.sqlite"
        tools = ["calc", "ask_person", "own_parts:weather"]
        guards = ["own_parts:no_paris"]
        bounds = ["own_parts:never"]
        checks = ["own_parts:short"]
        answer = "own_parts:Said"
        tries = 1
        [prompt]
        persona = "You are brief."
        constraints = ["Say it in one line."]
        output = "One line."
        thought = false
        tell_left = "always"
        [limits]
        steps = 4
        calls_per_tool = { weather = 2 }
        seconds = 60.0
        landing = false
        unknown = "hold"
        """,
    )
    agent, store = load_agent(file)
    names = [tool.name for tool in agent.tools]
    assert names == ["calc", "ask_person", "weather", "docs", "docs_read"]
    assert agent.engine.prompt_spec.prompt.startswith("You are brief.\n- Say it in one line.")
    assert (agent.limits.steps, agent.limits.tool_calls) == (4, 30)
    assert agent.limits.calls_per_tool == {"weather": 2}
    assert (agent.limits.landing, agent.limits.unknown) == (False, "hold")
    assert (agent.tries, len(agent.guards)) == (1, 2)
    assert not agent.engine.prompt_spec.thought
    assert store == str(tmp_path / "runs.sqlite")
    assert "own_parts" in repr(agent.answer)


AGENTS = '[[agents]]\nname = "{}"\ndescription = "Asks another."\nfile = "{}.toml"\n'


def named(folder: Path, name: str, *others: str, model: str = "offline") -> Path:
    """An agent file of this name that hands on to those."""
    said = f'model = "{model}"\n' if model else ""
    path = folder / f"{name}.toml"
    path.write_text(said + "tools = []\n" + "".join(AGENTS.format(o, o) for o in others))
    return path


def bare(asked: list[Spec], model: ScriptedModel, spec: Spec) -> Agent:
    """The agent of a spec with another model, and what was asked for."""
    asked.append(spec)
    return make_agent(spec, model=model)


async def test_an_agent_of_another_file_is_a_tool(tmp_path: Path) -> None:
    named(tmp_path, "clerk", model="")
    named(tmp_path, "office", "clerk")
    agent, _ = load_agent(named(tmp_path, "head", "office", "clerk"))
    assert [tool.name for tool in agent.tools] == ["office", "clerk"]
    model = ScriptedModel([act("office", task="What is 2 + 3?"), say("5")])
    store = MemoryStore()
    result = await run(agent.replace(model=model), "Ask.", store=store, run_id="r")
    assert result.answer == "5"
    below = await read("r-1.1", store=store)
    spec = spec_of(below)
    assert spec is not None
    assert (spec.file, spec.agents[0].file) == (
        str(tmp_path / "office.toml"),
        str(tmp_path / "clerk.toml"),
    )
    await replay(make_agent(spec), "r-1.1", store=store)
    whole = await read("r", store=store)
    for name in ("office", "clerk"):  # a replay of the whole needs neither
        (tmp_path / f"{name}.toml").unlink()
    spec = read_agent_file(tmp_path / "head.toml")
    asked: list[Spec] = []
    plain, apart = stand_ins(spec, whole, None, partial(bare, asked, model))
    assert apart == frozenset()
    assert asked[0].agents == ()
    await replay(plain, "r", store=store)
    with pytest.raises(ConfigError, match=r"nobody to work on n-1\.1: this agent was made for"):
        await run(plain, "Ask.", store=store, run_id="n")
    assert stand_ins(spec, below, None, partial(bare, asked, model))[0].tools != ()
    clerk = agent.engine.tools["clerk"]
    assert isinstance(clerk, AgentTool)
    inner = clerk.run
    assert isinstance(inner, Delegation)
    assert inner.agent.engine.model.info.name.startswith(
        "offline"
    )  # that of the file that names it


def test_files_that_lead_round_in_a_circle_are_refused(tmp_path: Path) -> None:
    named(tmp_path, "a", "b")
    named(tmp_path, "b", "c")
    named(tmp_path, "c", "b")
    with pytest.raises(
        ConfigError, match=r"a\.toml, line 3: c leads back to .*c\.toml|b leads back"
    ):
        load_agent(tmp_path / "a.toml")
    path = tmp_path / "d.toml"
    path.write_text('model = "offline"\n[[agents]]\nname = "x"\ndescription = "X."\n')
    with pytest.raises(ConfigError, match=r"d\.toml, line 2: agents\.0 lacks 'file': give it"):
        load_agent(path)
    path.write_text(path.read_text() + 'file = "no.toml"\n')
    with pytest.raises(ConfigError, match=r"d\.toml, line 2: the agent file .*no\.toml cannot be"):
        load_agent(path)


async def test_a_function_runs_in_a_process_of_its_own(tmp_path: Path) -> None:
    said = 'function = "own_parts:twice"\neffect = "pure"\ntimeout = 20\ncpu = 5\nname = "double"'
    agent, _ = load_agent(written(tmp_path, f'model = "offline"\n[[processes]]\n{said}'))
    double = agent.engine.tools["double"]
    assert isinstance(double, Tool)
    assert double.description == "Twice the number."
    assert [ProcessTable("own_parts:Sums.twice").called, ProcessTable("m:f", "g").called] == [
        "twice",
        "g",
    ]
    assert repr(double.call) == (
        "ProcessPoolCall(target='own_parts:twice', name='double', effect='pure', seconds=20.0, "
        "cpu=5, memory=0)"
    )
    assert await double.call({"number": 4}, "k:1.1") == 8


def test_tools_are_found_as_the_file_says(tmp_path: Path) -> None:
    said = '[retrieval]\nk = 3\nalways = ["planner"]\nmax_tools = 9\nper_server = 2\n'
    said += 'embed = "own_parts:letters"'
    agent, _ = load_agent(written(tmp_path, f'model = "offline"\n{said}'))
    assert [tool.name for tool in agent.engine.prompt_spec.tools] == ["planner"]
    assert [tool.name for tool in agent.engine.prompt_spec.more] == ["calc", "read_more", "recall"]
    told = "Retrieval(k=3, always=['planner'], embed=own_parts.letters, max_tools=9, per_server=2)"
    assert agent.spec.parts["retrieval"] == told
    plain, _ = load_agent(written(tmp_path, 'model = "offline"\n[retrieval]'))
    assert (plain.engine.prompt_spec.tools, len(plain.engine.prompt_spec.more)) == ((), 4)


async def test_fields_of_the_agent_take_the_place_of_those_of_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, 'model = "offline"\ntools = ["own_parts:weather"]\nstore = "runs/"\n')
    model = ScriptedModel([act("weather", city="Paris"), finish("sunny")])
    agent, store = load_agent(file, model=model)
    done = await run(agent, "How is it in Paris?", store=MemoryStore())
    assert done.answer == "sunny"
    assert store == f"{tmp_path}/runs/"


def test_a_text_format_and_grounded_answers_are_set_up(tmp_path: Path) -> None:
    text = 'model = "offline"\nchecks = ["grounded"]\nscreens = []\n'
    agent, _ = load_agent(written(tmp_path, text))
    assert agent.checks == [Grounded()]
    assert agent.fallback == CANNOT_ANSWER
    text = 'codec = "json"\nchecks = ["own_parts:short", "grounded"]\n[grounded]\nthreshold = 0.4'
    agent, _ = load_agent(written(tmp_path, text), model=ScriptedModel([]))
    assert repr(agent.checks[1]) == repr(Grounded(0.4))


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        ('fallback = "I cannot say."', "I cannot say."),
        ('checks = ["grounded"]\nfallback = "My own."', "My own."),
        ('answer = "own_parts:Said"\nfallback = { text = "?" }', "Said(text='?')"),
        ('answer = "own_parts:Said"\n[fallback]\ntext = "?"', "Said(text='?')"),
    ],
)
async def test_the_declared_answer_stands_in_the_file_as_json(
    tmp_path: Path, keys: str, answer: str
) -> None:
    text = f'model = "offline"\nbounds = ["own_parts:at_once"]\nlimits.landing = false\n{keys}\n'
    agent, _ = load_agent(written(tmp_path, text), model=ScriptedModel([]))
    result = await run(agent, "Who?", store=MemoryStore())
    assert (repr(result.answer).strip("'"), result.fallback) == (answer, True)


def test_a_model_given_by_name_takes_the_place_of_the_files(tmp_path: Path) -> None:
    file = written(tmp_path, 'model = "opnai:not-this-one"\n')
    assert load_agent(file, model="offline").agent.engine.model.info.name == "offline"


async def test_a_server_is_reached_as_the_file_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM_NAME", "research")
    with OpenAIServer([Say("It is 42.")]) as server:
        file = written(
            tmp_path,
            f"""
            model = "vllm:m"
            prompt = "Be brief."
            [connection]
            base_url = "{server.base_url}"
            patience = 5.0
            total = 60
            rate = "600 requests, 900_000 tokens"
            headers = {{ X-Team = "${{TEAM_NAME}}" }}
            [settings]
            temperature = 0.5
            timeout = 20
            [prices.m]
            input = 1.0
            output = 2.0
            [limits]
            cost = 0.5
            """,
        )
        agent, _ = load_agent(file)
        done = await run(agent, "What is it?", store=MemoryStore())
        assert isinstance(agent.engine.model, Endpoint)
        pace = pace_of("vllm:m", server.base_url, "", None)
        assert pace.rate == Rate(requests=600, tokens=900_000)
        await agent.engine.model.close()
    assert done.answer == "It is 42."
    assert done.usage.cost is not None
    assert server.requests[0].headers["x-team"] == "research"
    assert server.requests[0].body["temperature"] == 0.5


WRONG: list[tuple[str, int, str]] = [
    ('model = "offline"\nmodle = "x"', 2, "unknown key 'modle': did you mean model?"),
    ("landing = false", 1, "unknown key 'landing': did you mean limits.landing?"),
    ("[limits]\nsteps = 3\nstep = 4", 3, "unknown key 'step' in limits: did you mean steps?"),
    ("zzz = 1", 1, "unknown key 'zzz': known are model, codec, prompt"),
    ('file = "x"', 1, "unknown key 'file'"),
    ('\n\n[limits]\nsteps = "three"', 4, "limits.steps: expected int, got str"),
    ('model = "offline"\n[limits]\nsteps = 0', 3, "limit steps is 0: give a finite number over 0"),
    ('model = "offline"\ntools = [\n  "calc",\n  "clac",\n]', 4, "there is no tool 'clac'"),
    ('model = "offline"\ntools = ["no_such_module:tool"]', 2, "cannot be imported"),
    ('model = "offline"\ntools = ["own_parts:not_callable"]', 2, "is no Tool"),
    ('model = "offline"\ntools = ["own_exit:tool"]', 2, "'own_exit:tool' fails: SystemExit: 3"),
    ('model = "offline"\ntools = ["own_needs:tool"]', 2, "fails: ModuleNotFoundError: No module"),
    ('model = "offline"\ntools = ["own_parts:wether"]', 2, "did you mean own_parts:weather?"),
    ('model = "offline"\ntools = [":tool"]', 2, "write module:name"),
    ('model = "offline"\ntools = ["own_parts:unfit"]', 2, "tool unfit: its parameters must be"),
    (
        'model = "offline"\n[[processes]]\nfunction = "own_parts:twice"\nname = "calc"',
        2,
        "two tools are called calc: rename one",
    ),
    ('model = "offline"\nanswer = "own_parts:Odd"', 2, "the answer's type, type: "),
    ('model = "offline"\ntools = ["docs"]', 2, "needs a folder to search"),
    ('model = "offline"\nguards = ["own_parts:not_callable"]', 2, "name a function"),
    ('model = "offline"\nchecks = ["own_parts:absent"]', 2, "the check 'own_parts:absent' cannot"),
    ('model = "offline"\nanswer = "own_parts:Absent"', 2, "the type 'own_parts:Absent' cannot"),
    (
        'model = "offline"\nfallback = 3',
        2,
        "fallback is no answer of this agent: value: 3 is a number",
    ),
    (
        'model = "offline"\nanswer = "own_parts:Said"\nfallback = { txt = "?" }',
        3,
        "fallback is no answer of this agent: ",
    ),
    ('model = "offline"\ndocs = "nowhere"', 2, "there is no folder"),
    ('model = "offline"\nprompt.examples = 7', 2, "examples is 7, and 1 that ship"),
    ("tools = []", 1, "no model is named"),
    ('model = "opnai:gpt-4.1"', 1, "did you mean openai"),
    ('model = "offline"\ncodec = "papr"', 2, "papr"),
    ('model = "offline"\ncodec = "paper"', 2, "native codec only"),
    ('model = "offline"\n[settings]\ntemperature = 1', 3, "no temperature"),
    ('model = "offline"\n[settings]\ntimeout = 3', 3, "no timeout"),
    ('model = "vllm:m"\n[connection]\nbase_url = "${ABSENT_HERE}"', 3, "ABSENT_HERE, which is not"),
    ('model = "vllm:m"\n[connection]\nrate = "fast"', 3, "'fast' is no rate: write '60 requests,"),
    ('model = "vllm:m"\n[connection]\nrate = ""', 3, "'' is no rate"),
    ('model = "vllm:m"\n[connection]\nbase_url = "http://h:p/"', 3, "'http://h:p/' is no address"),
    ('model = "vllm:m"\n[connection]\nbase_url = ""', 3, "'' is no address of a server"),
    ('model = "vllm:m"\n[settings]\ntimeout = 0', 3, "give a number of seconds over 0"),
    ('model = "vllm:m"\n[connection]\ntotal = nan', 3, "total is nan: give a number of seconds"),
    ('model = "vllm:m"\n[connection]\npatience = -1', 3, "give 0 seconds or more"),
    ('model = "vllm:m"\n[connection]\nproxy = "nope"', 3, "is no address of a proxy"),
    ('model = "vllm:m"\n[connection.headers]\nA = "b"\n"a b" = "c"', 4, "no name of a header"),
    ('model = "vllm:m"\n[connection]\nheaders = { A = "ü" }', 3, "character that is not ASCII"),
    ('model = "vllm:m"\n[prices.m]\ninput = 1\noutput = -2', 4, "a price of -2: give US dollars"),
    ('model = "vllm:m"\n[connection]\nheaders = { A = 1 }', 3, "expected str, got int"),
    (
        'model = "vllm:m"\n[connection.headers]\nX-Api-Key = "sk-1"',
        3,
        "X-Api-Key would be in the rec",
    ),
    ('model = "vllm:m"\n[connection]\nproxy = "http://me:pw@p:1"', 3, "password in proxy would be"),
    (
        'model = "openrouter:m/m"\n[limits]\nsteps = 3\ncost = 1.0',
        4,
        "a cost limit needs a model with a known price",
    ),
    ('[prices."a b"]\ninput = 1.0', 1, "lacks 'output'"),
    ('model = "offline"\n[retrieval]\nk = 0', 3, "k is 0: give a whole number from 1 on"),
    ('model = "offline"\n[retrieval]\nmax_tools = -1', 3, "max_tools is -1"),
    ('model = "offline"\n[retrieval]\nalways = ["calk"]', 3, "the agent has no tool 'calk'"),
    ('model = "offline"\n[retrieval]\nembed = "maxilm"', 3, "there is no embedding 'maxilm'"),
    ('model = "offline"\n[retrieval]\nembed = "own_parts:absent"', 3, "'own_parts:absent' cannot"),
    ('model = "offline"\n[retrieval]\nn = 3', 3, "unknown key 'n' in retrieval: known are k,"),
    ('[prices."a b"]\ninput = 1.0\noutput = 1.0\ninpt = 2', 4, "unknown key 'inpt' in prices"),
    (
        '[[programs]]\nname = "a"\ndescription = "b"\nargv = ["ls"]\n[[programs]]\nname = "c"',
        5,
        "lacks 'description'",
    ),
    ('model = "offline"\n[[processes]]\nfunction = "own_parts:absent"', 3, "the function 'own_pa"),
    ('model = "offline"\n[[processes]]\nfunction = "own_parts:weather"', 3, "name a function"),
    ('model = "offline"\n[[processes]]\nfunction = "own_parts:twice"\ncpu = -1', 4, "cpu is -1"),
    ("model = ", 1, "this is not TOML"),
    ("a = 1\nmodel = offline", 2, "this is not TOML: Invalid value (text stands in quotes)"),
    ("a = 1\nb = [\n", 2, "this is not TOML: "),
    ('model = "offline"\nlimits.unknown = "ask"', 2, "limits.unknown: 'ask' is none of tell, hold"),
    ('[[programs]]\nname = "a"\ndescription = "b"\nargv = ["ls"]\neffect = "rd"', 5, "pure, read"),
    ("a = 1\nb = = 2", 2, "this is not TOML"),
    ("a = 1\na = 2", 2, "this is not TOML: Cannot overwrite"),
    (
        'model = "anthropic:m"\ntools = [\n"calc",\n"own_parts:odd",\n]',
        4,
        "the tool 'odd' has the property 'a b', which Anthropic's API does not take",
    ),
]


@pytest.mark.parametrize(("text", "line", "said"), WRONG, ids=[text for text, _, _ in WRONG])
def test_what_is_wrong_is_told_with_file_and_line(
    tmp_path: Path, text: str, line: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "k")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    file = written(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_agent(file)
    message = str(caught.value)
    assert message.startswith(f"{file}, line {line}: ")
    assert said in message
    assert "\n" not in message


async def test_worked_examples_that_ship_are_counted(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    text = 'model = "offline"\ndocs = "notes"\nprompt.examples = 6\n'
    agent, _ = load_agent(written(tmp_path, text))
    assert len(agent.engine.prompt_spec.examples) == 6
    typed = written(tmp_path, text + 'answer = "own_parts:Said"\n')
    with pytest.raises(
        ConfigError,
        match=r"my.toml, line 3: examples is 6, and 0 that .* fit .*; its answer: no text",
    ):
        load_agent(typed)


def test_a_file_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_agent(tmp_path / "absent.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load_agent(tmp_path / "bytes.toml")


def test_a_file_that_changed_meanwhile_gives_no_line(tmp_path: Path) -> None:
    from_file = read_agent_file(written(tmp_path, 'model = "offline"\ntools = ["calc"]\n'))
    changed = from_file.replace({"tools": ["clac"]})  # as the command line does it
    with pytest.raises(ConfigError, match=r"^there is no tool 'clac'"):
        make_agent(changed)
    Path(changed.file).unlink()
    with pytest.raises(ConfigError, match=r"^there is no tool 'clac'"):
        make_agent(changed)


def test_every_key_of_the_template_is_one(tmp_path: Path) -> None:
    """What is commented out is read as well."""
    key = re.compile(r"# ((?:[a-z_]+ = .*)|(?:\[.*\]))$")
    told = [key.sub(r"\1", line) for line in TEMPLATE.splitlines()]
    told = [line for line in told if not line.startswith(('tools = ["calc", "p', 'model = "off'))]
    spec = read_agent_file(written(tmp_path, "\n".join(told)))
    defaults = read_agent_file(written(tmp_path, ""))
    same = {
        name for name in Spec.__struct_fields__ if getattr(spec, name) == getattr(defaults, name)
    }
    assert same == {"model", "file"}  # which the template sets
    assert spec.programs[0].parameters["count"]["type"] == "integer"


def keys_of(struct: type[msgspec.Struct]) -> Iterator[str]:
    """All keys of a table and of the tables in it, but for the settings of strategies."""
    for field in msgspec.structs.fields(struct):
        yield field.name
        parts = [field.type, *typing.get_args(field.type)]
        for part in [*parts, *(inner for each in parts for inner in typing.get_args(each))]:
            if part is not StrategyTable and isinstance(part, type) and issubclass(part, FileTable):
                yield from keys_of(part)


DOCS = Path(__file__).parents[4] / "docs"
ELSEWHERE = {
    # Keys with another page than that of keys.
    **dict.fromkeys(("grant", "client_id", "client_secret", "issuer", "port"), "mcp.md"),
    **{field.name: "safety.md" for field in msgspec.structs.fields(LimitsTable)},
    **{field.name: "strategies.md" for field in msgspec.structs.fields(StrategyTable)},
}
KEYS = {*keys_of(Spec)} - {"file"}  # which is where it was read


@pytest.mark.parametrize("key", sorted(KEYS | ELSEWHERE.keys()))
def test_every_key_is_explained(key: str) -> None:
    page = ELSEWHERE.get(key, "command-line.md")
    word = re.compile(rf"(?<!\w){key}(?!\w)")
    assert word.search((DOCS / page).read_text("utf-8"))
    if page in {"command-line.md", "safety.md"}:
        assert word.search(TEMPLATE)


@pytest.mark.slow
@given(st.text(max_size=300), st.lists(st.sampled_from(["a", "b", "tools", 0, 1]), max_size=3))
def test_a_line_is_found_in_any_text(text: str, path: list[str | int]) -> None:
    assert 1 <= line_of(text, path) <= max(1, len(text.splitlines()))


def test_lines_of_keys_in_long_texts_and_tables_in_arrays() -> None:
    text = (
        'a = """\nb = 1\n"""\nb = 2\n[[t]]\nx = 1\n[t.u]\ny = 1\n[[t]]\nx = 2\n[v."w z"]\nk.l = 3\n'
    )
    assert line_of(text, ["b"]) == 4
    assert line_of(text, ["t", 0, "u", "y"]) == 8
    assert line_of(text, ["t", 1, "x"]) == 10
    assert line_of(text, ["v", "w z", "k", "l"]) == 12
    assert line_of(text, ["absent"]) == 1


def test_a_module_of_another_agent_does_not_stand_in(tmp_path: Path) -> None:
    """A process has one module of a name; a worker makes agents of many folders."""
    for folder, answer in (("one", 1), ("copy", 1), ("two", 2), ("none", 0), ("first", 0)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "agent.toml").write_text(
            'model = "offline"\nguards = ["shared_name:guard"]\n'
        )
        if answer:
            text = f"async def guard(call, so_far):\n    return {answer}\n"
            (tmp_path / folder / "shared_name.py").write_text(text)
    with pytest.raises(ConfigError, match=r"see that shared_name\.py is in"):
        load_agent(tmp_path / "first" / "agent.toml")
    (tmp_path / "first" / "agent.toml").write_text('model = "offline"\nguards = ["sys:guard"]\n')
    with pytest.raises(ConfigError, match="sys has no 'guard'"):
        load_agent(tmp_path / "first" / "agent.toml")
    assert load_agent(tmp_path / "one" / "agent.toml")
    assert load_agent(tmp_path / "copy" / "agent.toml")  # the same, as another checkout has it
    for folder in ("two", "none"):
        with pytest.raises(ConfigError, match=r"this process has .*one/shared_name\.py under that"):
            load_agent(tmp_path / folder / "agent.toml")
    (tmp_path / "one" / "shared_name.py").unlink()
    with pytest.raises(ConfigError, match="give one of the modules another name"):
        load_agent(tmp_path / "copy" / "agent.toml")
