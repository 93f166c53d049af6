"""Matrix files: what they say, and what is told of them where they are wrong, with the line."""

import json
import re
from pathlib import Path

import anyio
import pytest

from clew import Agent, ConfigError
from clew.agent_files import Spec
from clew.core.spec_changes import changes
from clew_evals.gold import NOTES
from clew_evals.matrix import plan_of, read_matrix
from clew_evals.plan import Plan
from clew_evals.runner import evaluate_sync, foreseen

OWN = '''
from clew import tool
from clew_evals.case import Case
from clew_evals.world import World

@tool(effect="pure")
def double(number: int) -> int:
    """Twice the number."""
    return 2 * number

@tool(effect="unsafe")
def pay(to: str) -> str:
    """Pay."""
    return to

both = [double, pay]

def listed(text: str) -> str:
    """List files."""
    return text

def few(path, take=1):
    return World("few", [Case(f"c{n}", "What is 2 + 2?", "4") for n in range(take)])

def rooms(path):
    return World("rooms", [Case("c", "Where?", "there")], open=lambda *given: None)
'''
CASES = [
    {
        "id": case,
        "question": f"What is {number} + 3?",
        "gold": {"number": number + 3},
        "extra": {"script": [{"answer": str(number + 3)}]},
    }
    for case, number in (("a", 2), ("b", 3))
]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path) -> None:
    (tmp_path / "matrix_parts.py").write_text(OWN)
    (tmp_path / "sums.jsonl").write_text("".join(json.dumps(case) + "\n" for case in CASES))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# Torvik\n\nTorvik has a lighthouse.\n")
    (tmp_path / "my.toml").write_text('model = "offline"\ntools = ["calc"]\n[limits]\nsteps = 7\n')


def read(folder: Path, text: str) -> Plan:
    (folder / "m.toml").write_text(text)
    return read_matrix(folder / "m.toml")


def tools(plan: Plan, name: str) -> list[str]:
    """The tools of a configuration."""
    return [
        tool.name for one in plan.configurations if one.name == name for tool in one.agent.tools
    ]


def test_configurations_are_crossed_with_models_seeds_and_repetitions(tmp_path: Path) -> None:
    plan = read(
        tmp_path,
        """
        dataset = "sums.jsonl"
        models = ["offline", "simulated:strong"]
        seeds = [3, 4]
        repetitions = 2
        [[configurations]]
        name = "all"
        [[configurations]]
        name = "few steps"
        set = { "limits.steps" = 3 }
        """,
    )
    assert (plan.name, plan.world.name, plan.judge) == ("m", "sums", None)
    assert [one.key for one in plan.configurations] == [
        (name, model) for name in ("all", "few steps") for model in ("offline", "simulated:strong")
    ]
    assert [one.agent.limits.steps for one in plan.configurations] == [15, 15, 3, 3]
    trials = plan.trials()
    assert len(trials) == len({each.run_id for each in trials}) == 4 * 2 * 2 * 2
    assert {each.agent_seed for each in trials} == {30_000, 30_100, 40_000, 40_100}
    assert [each.case.id for each in trials[:5]] == ["a", "a", "a", "a", "b"]
    assert re.fullmatch(r"all-simulated-strong-a-s3-r1-[0-9a-f]{8}", trials[1].run_id)
    assert plan.about(1).configurations == ("all", "few steps")
    assert all(one.agent.screens for one in plan.configurations)  # as in agent files


def test_a_configuration_may_be_for_some_of_the_models_only(tmp_path: Path) -> None:
    plan = read(
        tmp_path,
        """
        dataset = "sums.jsonl"
        models = ["offline", "simulated:strong"]
        [[configurations]]
        name = "paper"
        models = ["simulated:strong"]
        set.codec = "paper"
        [[configurations]]
        name = "native"
        """,
    )
    assert [one.key for one in plan.configurations] == [
        ("paper", "simulated:strong"),
        ("native", "offline"),
        ("native", "simulated:strong"),
    ]


def test_what_is_set_goes_over_the_agent_key_by_key(tmp_path: Path) -> None:
    plan = read(
        tmp_path,
        """
        dataset = "sums.jsonl"
        agent = "my.toml"
        models = ["vllm:a.b"]
        [[configurations]]
        name = "as it is"
        [[configurations]]
        name = "nested"
        set.limits.tokens = 5000
        set.checks = ["grounded"]
        set.grounded.threshold = 0.7
        set.docs = "notes"
        [configurations.set.prices."a.b"]
        input = 1.0
        output = 2.0
        [[configurations]]
        name = "words"
        set = { tools = [], prompt = "Guess.", "prompt.thought" = false }
        """,
    )
    plain, nested, varied = plan.configurations
    assert plain.agent.limits.steps == nested.agent.limits.steps == 7
    assert nested.agent.limits.tokens == 5000
    assert "threshold=0.7" in repr(nested.agent.checks)
    assert [library.folder for library in plan.libraries] == [(tmp_path / "notes").resolve()]
    assert nested.origin["cli"]["prices"] == {"a.b": {"input": 1.0, "output": 2.0}}
    assert (varied.agent.tools, varied.agent.engine.prompt_spec.thought) == ((), False)
    assert varied.agent.engine.prompt_spec.prompt == "Guess."


def test_tools_are_left_out_by_their_names(tmp_path: Path) -> None:
    plan = read(
        tmp_path,
        """
        dataset = "sums.jsonl"
        [agent]
        model = "offline"
        docs = "notes"
        tools = ["calc", "planner", "matrix_parts:both"]
        """
        + "".join(
            f'[[configurations]]\nname = "no {name}"\nleave_out = ["{name}"]\n'
            for name in ("calc", "docs", "docs_read", "double", "matrix_parts:both", "list")
        )
        + """
        [[agent.processes]]
        function = "matrix_parts:listed"
        name = "list"
        """,
    )
    every = ["calc", "planner", "double", "pay", "list", "docs", "docs_read"]
    for name in ("calc", "docs_read", "double", "list"):
        assert tools(plan, f"no {name}") == [tool for tool in every if tool != name]
    assert tools(plan, "no docs") == ["calc", "planner", "double", "pay", "list"]
    assert tools(plan, "no matrix_parts:both") == ["calc", "planner", "list", "docs", "docs_read"]
    assert len(plan.libraries) == 1


def test_the_gold_set_comes_with_its_notes(tmp_path: Path) -> None:
    plan = read(
        tmp_path,
        """
        dataset = "gold"
        models = ["offline"]
        [[configurations]]
        name = "all"
        [[configurations]]
        name = "no docs"
        leave_out = ["docs"]
        """,
    )
    assert [library.folder for library in plan.libraries] == [NOTES.resolve()]
    assert tools(plan, "all") == ["calc", "planner", "docs", "docs_read"]
    assert tools(plan, "no docs") == ["calc", "planner"]


def test_a_world_of_ones_own_is_named_with_its_options(tmp_path: Path) -> None:
    plan = read(
        tmp_path,
        """
        dataset = ""
        world = "matrix_parts:few"
        options = { take = 3 }
        models = ["offline"]
        """,
    )
    assert (plan.world.name, len(plan.world.cases)) == ("few", 3)
    assert [one.name for one in plan.configurations] == ["agent"]


def test_votes_and_judges_have_models_of_their_own(tmp_path: Path) -> None:
    plan = read(
        tmp_path,
        """
        dataset = "sums.jsonl"
        models = ["vllm:a"]
        [agent.connection]
        base_url = "http://localhost:7001/v1"
        [agent.prices.a]
        input = 1.0
        output = 1.0
        [[configurations]]
        name = "votes"
        votes = 3
        verifier = "vllm:b"
        [judge]
        model = "vllm:c"
        min_grade = 3
        """,
    )
    (one,) = plan.configurations
    assert one.votes == 3
    assert isinstance(one.verifier, Agent)
    assert one.verifier.engine.model.info.name == "vllm:b"
    assert one.origin["votes"] == {"k": 3, "verifier": "vllm:b"}
    assert one.price
    assert one.price.input == 1.0
    assert plan.judge
    assert (plan.judge.agent.engine.model.info.name, plan.judge.min_grade) == ("vllm:c", 3)


def test_a_verifier_of_another_provider_is_not_asked_there_in_batches_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEW_BATCHES", str(tmp_path / "batches.sqlite"))
    for key in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(key, raising=False)
    text = """
        dataset = "sums.jsonl"
        models = ["batch:openai:a"]
        [agent.connection]
        base_url = "http://localhost:7001/v1"
        [[configurations]]
        name = "votes"
        votes = 3
        verifier = "batch:{}"
        """
    read(tmp_path, text.format("openai:b"))
    with pytest.raises(ConfigError, match="ANTHROPIC_API_KEY"):
        read(tmp_path, text.format("anthropic:b"))


def test_settings_of_the_model_are_those_of_an_agent_a_configuration_and_a_judge(
    tmp_path: Path,
) -> None:
    plan = read(
        tmp_path,
        """
        dataset = "sums.jsonl"
        models = ["vllm:a"]
        [agent.settings]
        max_tokens = 90
        [[configurations]]
        name = "cold"
        set.settings.temperature = 0
        [[configurations]]
        name = "warm"
        set.settings = { temperature = 0.9, effort = "low" }
        [judge]
        model = "vllm:a"
        settings = { temperature = 0.5 }
        """,
    )
    cold, warm = plan.configurations
    assert cold.agent.spec.params == {"max_tokens": 90, "temperature": 0}
    assert warm.agent.spec.params == {"max_tokens": 90, "temperature": 0.9, "effort": "low"}
    assert plan.judge
    assert plan.judge.agent.spec.params == {"temperature": 0.5}


def test_strategies_are_an_axis(tmp_path: Path) -> None:
    plan = read(
        tmp_path,
        """
        dataset = "sums.jsonl"
        models = ["offline"]
        strategies = ["react", "plan_and_solve"]
        [[configurations]]
        name = "few"
        set.limits.steps = 5
        [[configurations]]
        name = "many"
        """,
    )
    named = {one.name: one.agent.engine.model.info.name for one in plan.configurations}
    assert named == {
        "few, react": "offline",
        "few, plan_and_solve": "strategy:plan_and_solve",
        "many, react": "offline",
        "many, plan_and_solve": "strategy:plan_and_solve",
    }
    few, few_planned, many, many_planned = (it.agent.limits.steps for it in plan.configurations)
    assert (few, many) == (5, 15)
    assert few < few_planned < many_planned  # there is room for each of a plan's runs
    assert all(one.price is not None for one in plan.configurations)
    done = evaluate_sync(plan, tmp_path / "r.sqlite")
    assert sum(one.passed for one in done.outcomes) >= 4
    assert len(done.outcomes) == 8


HEAD = 'dataset = "sums.jsonl"\nmodels = ["offline"]\n'
ONE = HEAD + '[[configurations]]\nname = "a"\n'


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ('dataset = "sums.jsonl\n', 1, "this is not TOML"),
        ('models = ["offline"]\n', 1, "lacks 'dataset': give it"),
        (HEAD + "seed = [1]\n", 3, "unknown key 'seed': did you mean seeds?"),
        (HEAD + 'repetitions = "2"\n', 3, "repetitions: expected int"),
        (HEAD + "repetitions = 0\n", 3, "repetitions: give 1 to 100"),
        (HEAD + "seeds = []\n", 3, "there is no seed"),
        (HEAD + "seeds = [1,\n 2,\n 1]\n", 3, "1 is there twice"),
        (HEAD + "seeds = [1,\n -2]\n", 4, "seed -2: give 0 to"),
        (HEAD + "configurations = []\n", 3, "there is no configuration: give one or more"),
        ('dataset = "sums.jsonl"\n', 1, "no model is named"),
        ('dataset = "none.jsonl"\nmodels = ["offline"]\n', 1, "none.jsonl cannot be read"),
        (HEAD.replace('["offline"]', '[\n"offline",\n"ofline"]'), 4, "unknown model 'ofline'"),
        (
            HEAD.replace("offline", "simulated:storng"),
            2,
            "no simulated model 'storng': did you mean strong?",
        ),
        (HEAD + 'world = "nowhere"\n', 3, "there is no world 'nowhere'"),
        (HEAD + 'strategies = ["react",\n"guess"]\n', 4, "there is no strategy 'guess'"),
        (HEAD + 'strategies = ["react", "react"]\n', 3, "react is there twice"),
        (
            HEAD + 'world = "matrix_parts:rooms"\nstrategies = ["react"]\n',
            4,
            "an agent gets its tools there",
        ),
        (HEAD + "options = { take = 1 }\n", 3, "options are those of a world"),
        (HEAD + 'agent = "none.toml"\n', 3, "none.toml cannot be read"),
        (HEAD + '[agent]\nmodel = "offline"\n', 4, "the model is named here and in models"),
        (HEAD + '[agent]\nstore = "x"\n', 4, "records lie in the results"),
        (HEAD + '[agent]\nfile = "x"\n', 4, "unknown key 'file' in agent"),
        (HEAD + '[agent]\ntools = ["calk"]\n', 4, "no tool 'calk': did you mean calc?"),
        (HEAD + "[agent.limits]\nstep = 3\n", 4, "unknown key 'step' in agent.limits"),
        (ONE + '[[configurations]]\nname = "a"\n', 6, "two configurations are called 'a'"),
        (ONE + '[[configurations]]\nname = ""\n', 6, "a configuration has no name"),
        (ONE + 'leaveout = ["calc"]\n', 5, "unknown key 'leaveout' in configurations.0"),
        (ONE + 'leave_out = ["calk"]\n', 5, "no tool 'calk' to leave out: the agent's are calc"),
        (ONE + "set.limits.step = 3\n", 5, "unknown key 'step' in limits"),
        (ONE + 'set = { "limits.steps" = "x" }\n', 5, "limits.steps: expected int"),
        (ONE + "set.limits.steps = 0\n", 5, "limit steps is 0"),
        (ONE + 'set.tools = ["calk"]\n', 5, "no tool 'calk'"),
        (ONE + 'set.docs = "nowhere"\n', 5, "there is no folder"),
        (ONE + 'set.model = "offline"\n', 5, "model is not set here: models are named in `models`"),
        (ONE + 'set.codec = "paper"\n', 5, "offline rules act with the native codec only"),
        (ONE + "tries = 3\n", 5, "unknown key 'tries'"),
        (ONE + 'models = ["vllm:x"]\n', 5, "vllm:x is none of the models of the matrix"),
        (ONE + "votes = 0\n", 5, "votes is 0"),
        (ONE + 'verifier = "offline"\n', 3, "a verifier chooses among votes"),
        (ONE + 'votes = 2\nverifier = "offlin"\n', 6, "unknown model 'offlin'"),
        (
            ONE + 'votes = 2\nset.tools = ["matrix_parts:pay"]\n',
            5,
            "2 runs would each do what pay does",
        ),
        (ONE + 'set.tools = ["calc", "matrix_parts:both", "matrix_parts:pay"]\n', 5, "two tools"),
        (ONE + "set.settings.temperature = 0\n", 5, "offline takes no temperature: leave it out"),
        (ONE + "set.settings.temperatur = 0\n", 5, "unknown key 'temperatur' in settings"),
        (HEAD + '[judge]\nmodel = "vllm:x"\nsettings.top_p = 2\n', 5, "top_p is 2.0: give 0 to 1"),
        (HEAD + '[judge]\nmodel = "vllm:x"\nsettings.topp = 2\n', 5, "unknown key 'topp'"),
        (HEAD + '[judge]\nmodel = "offlin"\n', 4, "unknown model 'offlin'"),
        (HEAD + '[judge]\nmodel = "offline"\nmin_grade = 9\n', 5, "min_grade is 9"),
    ],
)
def test_what_does_not_fit_is_told_with_its_line(
    tmp_path: Path, text: str, line: int, told: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'm.toml'}, line {line}: "), message
    assert told in message
    assert message.count("m.toml") == 1
    assert "\n" not in message


def test_errors_of_other_files_name_those(tmp_path: Path) -> None:
    (tmp_path / "my.toml").write_text('model = "offline"\ntools = ["calk"]\n')
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, 'dataset = "sums.jsonl"\nagent = "my.toml"\n')
    assert str(caught.value).startswith(f"{tmp_path / 'my.toml'}, line 2: ")
    (tmp_path / "sums.jsonl").write_text("{}\n")
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, HEAD)
    assert str(caught.value).startswith(f"{tmp_path / 'sums.jsonl'}:1: ")
    with pytest.raises(ConfigError, match=r"the matrix file none\.toml cannot be read"):
        read_matrix("none.toml")


def test_a_gold_that_asks_for_a_judge_needs_one(tmp_path: Path) -> None:
    judged = {"id": "a", "question": "Why?", "gold": {"judge": "it says why"}}
    (tmp_path / "sums.jsonl").write_text(json.dumps(judged) + "\n")
    with pytest.raises(ConfigError, match="line 1: case a asks for a judge"):
        read(tmp_path, HEAD)
    (tmp_path / "sums.jsonl").write_text(json.dumps({**judged, "gold": {"reward": 1}}) + "\n")
    with pytest.raises(ConfigError, match="line 1: case a asks for a reward"):
        read(tmp_path, HEAD)


def test_without_a_matrix_the_agent_and_the_dataset_are_enough(tmp_path: Path) -> None:
    spec = Spec(model="offline", tools=("calc",))
    plan = plan_of(spec, str(tmp_path / "sums.jsonl"))
    assert (plan.name, [one.key for one in plan.configurations]) == (
        "sums",
        [("agent", "offline")],
    )
    assert '"calc"' in plan.matrix
    done = evaluate_sync(plan, tmp_path / "r.sqlite")
    assert [one.passed for one in done.outcomes] == [True, True]
    assert plan_of(Spec(model="offline")).name == "gold"
    with pytest.raises(ConfigError, match=r"^there is no tool 'calk'"):
        plan_of(Spec(model="offline", tools=("calk",)))


def test_other_documents_are_another_evaluation(tmp_path: Path) -> None:
    text = HEAD + '[agent]\ndocs = "notes"\n'
    assert evaluate_sync(read(tmp_path, text), tmp_path / "r.sqlite").complete
    (tmp_path / "notes" / "b.md").write_text("# Lome\n\nThe Lome is a ferry.\n")
    with pytest.raises(ConfigError, match=r"its documents \(notes\) were 1 file, 1 passage"):
        evaluate_sync(read(tmp_path, text), tmp_path / "r.sqlite")


def test_a_folder_without_text_is_told_before_anything_begins(tmp_path: Path) -> None:
    (tmp_path / "notes" / "a.md").unlink()
    plan = read(tmp_path, HEAD + '[agent]\ndocs = "notes"\n')
    with pytest.raises(ConfigError, match="there is no text in"):
        anyio.run(foreseen, plan, tmp_path / "r.sqlite")


SWITCHES = """
dataset = "sums.jsonl"
models = ["ollama:qwen2.5:1.5b"]
agent = { tools = ["calc"] }

[[configurations]]
name = "as it is"

[[configurations]]
name = "native"
set = { codec = "native" }

[[configurations]]
name = "no examples"
set = { "prompt.examples" = 0 }

[[configurations]]
name = "long"
set = { "prompt.short" = false }

[[configurations]]
name = "asked once"
set = { "prompt.repeat_question" = false }

[[configurations]]
name = "any landing"
set = { "prompt.strict_landing" = false }

[[configurations]]
name = "written anew"
set = { "prompt.raw_replies" = false }

[[configurations]]
name = "late"
set = { "limits.no_progress" = "late" }

[[configurations]]
name = "nothing"
set = { "prompt.variants" = false }
"""


def test_what_small_models_get_is_an_axis_each_by_itself(tmp_path: Path) -> None:
    usual, *others = [each.agent for each in read(tmp_path, SWITCHES).configurations]
    assert usual.spec.parts["variant"] == "tiny, text"
    parts = [set(changes(usual.spec, other.spec)) for other in others]
    native, examples, long, *switches, late, nothing = parts
    assert {"codec", "parts.variant"} <= native
    assert (examples, long) == ({"parts.examples"}, {"prompt"})
    named = ("repeat_question", "strict_landing", "raw_replies")
    assert switches == [{f"parts.{name}"} for name in named]
    assert late == {"parts.guards", "parts.withhold"}
    assert set.union(*parts) == nothing | {"parts.thought"}
