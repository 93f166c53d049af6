"""The pytest plugin in a stranger's project: its tests pass, and fail with what went wrong."""

import importlib
import json
import re
from pathlib import Path

import pytest

import pytest_clew
from clew_testing.servers import OpenAIServer, Say

pytest_plugins = ["pytester"]

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[1] / "README.md"
HEAD = """
from clew import Agent, tool
from clew.guards import Provenance
from clew.testing import act, acts, called, finish, say

@tool(effect="read")
def lookup(name: str) -> str:
    "Look up an address."
    return f"{name.lower()}@home.example"

@tool
def send(to: str, text: str) -> str:
    "Send a letter."
    return f"sent to {to}"

def agent(model):
    return Agent(model, tools=[lookup, send], guards=[Provenance("off")])
"""
RUN = """
def test_it(clew_model, clew_run):
    letter = act("send", to="ada@home.example", text="Hi.")
    model = clew_model(act("lookup", name="Ada"), letter, say("Sent."))
    run = clew_run(agent(model), "Write to Ada.")
    assert run.result.ok
    run.expect({})
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project of somebody who has installed clew-testing, and has no settings of ours."""
    importlib.import_module("clew.sync")  # else pytester forgets it, with the loop that it has
    pytester.makeini("[pytest]\nfilterwarnings =\n    error\n")
    return pytester


def outcome(project: pytest.Pytester, program: str, *options: str) -> pytest.RunResult:
    project.makepyfile(test_letters=HEAD + program)
    return project.runpytest_inprocess("-p", "no:cacheprovider", *options, plugins=[pytest_clew])


@pytest.mark.parametrize(
    "expected",
    [
        'calls=[called("lookup", name="Ada"), called("send", to="ada@home.example")]',
        'effects=[called("send", to="ada@home.example", text="Hi.")]',
        'calls=[called("lookup"), called("send")], answer="Sent."',
        'status="answered"',
    ],
)
def test_a_run_that_went_as_expected_passes(expected: str, project: pytest.Pytester) -> None:
    outcome(project, RUN.replace("{}", expected)).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        (
            'calls=[called("lookup"), called("send", to="bob@home.example")]',
            "call 2 is send(to='ada@home.example', text='Hi.'), not send(to='bob@home.example')",
        ),
        ('calls=[called("lookup")]', "call 2 is not expected: send(to='ada@home.example', *"),
        ('calls=[called("lookup"), called("send"), called("send")]', "call 3 is missing: send()"),
        ('calls=[called("send")]', "call 1 is lookup(name='Ada'), not send()"),
        ('calls=[called("lookup", nam="Ada")]', "call 1 is lookup(name='Ada'), not *"),
        ("effects=[]", "effect 1 is not expected: send(to='ada@home.example', text='Hi.')"),
        ('answer="Done."', "the answer is 'Sent.', not 'Done.'"),
        ('status="held"', "the run is answered, not held"),
    ],
)
def test_one_that_did_not_fails_and_shows_the_run(
    expected: str, message: str, project: pytest.Pytester
) -> None:
    result = outcome(project, RUN.replace("{}", expected))
    result.assert_outcomes(failed=1)
    for line in (
        f"*AssertionError: {message}".replace("[", "[[]"),
        "*run *: Write to Ada.",
        "*1.1 lookup(name='Ada') → ada@home.example",
        "*2.1 send(to='ada@home.example', text='Hi.') → sent to ada@home.example",
        "*answered: Sent.",
    ):
        result.stdout.fnmatch_lines([line])


def test_an_effect_is_what_may_have_changed_something(project: pytest.Pytester) -> None:
    """Not a call that was refused, nor one whose tool says that nothing was done."""
    program = """
from clew import ToolError

@tool
def pay(amount: int) -> str:
    "Pay."
    if amount > 10:
        raise ToolError("too much")
    if amount > 5:
        raise OSError("the line broke")
    return "paid"

def test_it(clew_model, clew_run):
    pays = [act("pay", amount=amount) for amount in ("x", 11, 6, 1)]
    model = clew_model(*pays, say("Paid."))
    run = clew_run(Agent(model, tools=[pay], guards=[Provenance("off")]), "Pay.")
    run.expect(effects=[called("pay", amount=6), called("pay", amount=1)])
"""
    outcome(project, program).assert_outcomes(passed=1)


def test_a_line_that_was_not_played_is_told(project: pytest.Pytester) -> None:
    program = """
def test_it(clew_model, clew_run):
    run = clew_run(agent(clew_model(say("Yes."), say("No."))), "Well?")
    run.expect(answer="Yes.")
"""
    result = outcome(project, program)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*line 2 of 2 of the script was not played: Move(*No.*"])


def test_the_store_is_empty_at_first_and_the_test_has_it(project: pytest.Pytester) -> None:
    program = """
from clew import list_runs, run

async def test_first(clew_store, clew_model, anyio_backend):
    assert await list_runs(store=clew_store) == []
    await run(agent(clew_model(say("Yes."))), "Well?", store=clew_store)

def test_second(clew_store, clew_run, clew_model):
    from clew import sync
    run = clew_run(agent(clew_model(say("Yes."))), "Well?", labels={"user": "ada"})
    assert [one.run_id for one in sync.list_runs(store=clew_store)] == [run.result.run_id]
    assert run.record.started.labels == {"user": "ada"}
    assert "answered: Yes." in str(run)
"""
    outcome(project, program, "-o", "anyio_mode=auto", "-p", "anyio").assert_outcomes(passed=3)


CASSETTE = """
import os
from clew.models.openai.chat import openai_chat

def model():
    return openai_chat("small", base_url=os.environ["SERVER"], api_key="sk-any-key")

def test_it(clew_cassette, clew_run, tmp_path):
    run = clew_run(agent(clew_cassette(model())), f"Write to Ada {tmp_path.name and tmp_path}.")
    run.expect(calls=[called("lookup", name="Ada")], answer="She is there.")
"""


def recorded(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.RunResult:
    script = [Say(calls=[("lookup", '{"name": "Ada"}')]), Say("She is there.")]
    with OpenAIServer(script) as server:
        monkeypatch.setenv("SERVER", server.base_url)
        return outcome(project, CASSETTE, "--clew-record")


def test_replies_are_recorded_once_and_played_without_the_model(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(project, monkeypatch).assert_outcomes(passed=1)
    (file,) = (project.path / "cassettes").iterdir()
    assert file.name == "test_letters.test_it.json"
    text = file.read_text("utf-8")
    assert "<tmp_path>" in text
    assert "sk-any" not in text
    assert [each["reply"].get("text", "") for each in json.loads(text)["exchanges"]] == [
        "",
        "She is there.",
    ]
    monkeypatch.setenv("SERVER", "http://127.0.0.1:9/v1")  # where nobody answers
    outcome(project, CASSETTE).assert_outcomes(passed=1)
    assert file.read_text("utf-8") == text


def test_a_request_that_was_not_recorded_says_what_differs(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(project, monkeypatch).assert_outcomes(passed=1)
    other = CASSETTE.replace("Write to Ada", "Write to Bob")
    result = outcome(project, other)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*request 1 was not recorded: messages?1?.text was 'Write to Ada *",
        ]
    )


def test_a_cassette_that_is_missing_or_of_another_model_says_so(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVER", "http://127.0.0.1:9/v1")
    result = outcome(project, CASSETTE)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*test_letters.test_it.json is missing: record it*"])
    recorded(project, monkeypatch)
    result = outcome(project, CASSETTE.replace('"small"', '"large"'))
    result.stdout.fnmatch_lines(["*has no replies of openai:large: record it anew*"])
    (project.path / "cassettes" / "test_letters.test_it.json").write_text("{}")
    outcome(project, CASSETTE).stdout.fnmatch_lines(["*is no cassette *: record it anew*"])


def test_a_secret_of_the_environment_is_in_no_cassette(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "moon-and-seven-stars")
    program = CASSETTE.replace("Write to Ada", "My word is {os.environ.get('SHOP_TOKEN')}; write")
    with OpenAIServer([Say("moon-and-seven-stars, I see")]) as server:
        monkeypatch.setenv("SERVER", server.base_url)
        outcome(project, program, "--clew-record")
    (file,) = (project.path / "cassettes").iterdir()
    assert "moon-and-seven" not in file.read_text("utf-8")
    assert "[redacted]" in file.read_text("utf-8")


MANY = """
import pytest

IDS = ["a/b", "a_b", "a b", "a:b", "../c", "x" * 300, "\u00fc?*"]

def asked(item, clew_cassette, clew_run):
    model = clew_cassette(ScriptedModel([say(item)], name="mine:small"))
    clew_run(Agent(model), f"What is {item}?").expect(answer=item)

@pytest.mark.parametrize("item", IDS)
def test_it(item, clew_cassette, clew_run):
    asked(item, clew_cassette, clew_run)

class TestOne:
    def test_it(self, clew_cassette, clew_run):
        asked("one", clew_cassette, clew_run)

    class TestInside:
        def test_it(self, clew_cassette, clew_run):
            asked("inside", clew_cassette, clew_run)

class TestOther:
    def test_it(self, clew_cassette, clew_run):
        asked("other", clew_cassette, clew_run)
"""


def test_each_test_has_a_cassette_of_its_own(project: pytest.Pytester) -> None:
    program = "from clew.testing import ScriptedModel\n" + MANY
    outcome(project, program, "--clew-record").assert_outcomes(passed=10)
    names = {file.name for file in (project.path / "cassettes").iterdir()}
    assert len(names) == 10
    assert "test_letters.test_it[a_b].json" in names  # nothing of it was replaced
    outcome(project, program).assert_outcomes(passed=10)


def test_two_tests_that_would_write_one_cassette_fail_with_a_line(
    project: pytest.Pytester,
) -> None:
    in_class = "class TestOne:\n    def test_it(self, clew_cassette):\n        pass\n"
    (project.path / "test_a.py").write_text(in_class, "utf-8")
    beside = "def test_it(clew_cassette):\n    pass\n"
    (project.path / "test_a.TestOne.py").write_text(beside, "utf-8")
    result = project.runpytest_inprocess(
        "-p", "no:cacheprovider", "--import-mode=importlib", "--clew-record", plugins=[pytest_clew]
    )
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        ["*test_a*::test_it wrote *test_a.TestOne.test_it.json before: rename one *"]
    )


TYPED = """
from dataclasses import dataclass

@dataclass
class Price:
    item: str
    cents: int

def test_it(clew_model, clew_run):
    run = clew_run(Agent(clew_model(finish({"item": "a", "cents": 1})), answer=Price), "?")
    run.expect({})
"""


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ('answer=Price("a", 1)', ""),
        ('answer={"item": "a", "cents": 1}', ""),
        ('answer=Price("a", 2)', "*the answer is Price(item='a', cents=1), not Price(*cents=2)"),
        ('answer={"item": "a"}', "*the answer is {'item': 'a', 'cents': 1}, not {'item': 'a'}"),
        ("answer=None", "*the answer is {'item': 'a', 'cents': 1}, not None"),
        ('anwser=Price("a", 1)', "*unexpected keyword argument 'anwser'*"),
    ],
)
def test_a_typed_answer_is_expected_as_a_value_or_as_recorded(
    expected: str, message: str, project: pytest.Pytester
) -> None:
    result = outcome(project, TYPED.replace("{})", f"{expected})"))
    result.assert_outcomes(failed=1 if message else 0, passed=0 if message else 1)
    if message:
        result.stdout.fnmatch_lines([message])


def test_the_example_of_the_page_passes(project: pytest.Pytester) -> None:
    (program,) = re.findall(
        r"```python\n((?:(?!```).)*def test_bread.*?)```", PAGE.read_text("utf-8"), re.DOTALL
    )
    project.makepyfile(test_prices=program)
    project.runpytest_subprocess("-p", "pytest_clew").assert_outcomes(passed=1)
