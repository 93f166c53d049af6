"""Bare commands in declared forms: what is read, what is mended, what is a fault."""

from typing import Any

import pytest

from clew.core.actions import Action
from clew.core.codes import Finish
from clew.core.contents import Observation, Reply
from clew.support.errors import ConfigError
from clew_code.codec.commands import Command, Commands
from clew_testing.codec_contract import CONTRACT, Check
from tests.codecs.samples import POINT, TEXT, prompt_spec, step, tool

WEB = Commands(
    (
        Command("get", "GET {url}", begins=("http",)),
        Command("post", "POST {url}\n{body}", begins=("http",)),
        Command("note", "NOTE {title}\n{text}"),
        Command("copy", "COPY {source} TO {target}"),
        Command("mark", "<mark>\n{text}\n</mark> AS {title}."),
        Command("list", "LIST"),
        Command("end", "END\n```"),
        Command("rank", "RANK [{first}] OVER {second}"),
        Command("finish", "FINISH([{answer}])"),
    ),
    dialect="web",
)
TOOLS = (
    tool("get", "url", url=TEXT),
    tool("post", "url", "body", url=TEXT, body={"type": "object"}, effect="unsafe"),
    tool("note", "title", "text", title=TEXT, text=TEXT),
    tool("copy", "source", "target", source=TEXT, target=TEXT),
    tool("mark", "text", "title", text=TEXT, title=TEXT),
    tool("list"),
    tool("rank", "first", "second", first=TEXT, second={"type": "integer"}),
    tool("now", depth=TEXT),
)
BLOCK = Commands((Command("run", "```\n{command}\n```"),), dialect="block", counts="last")
SHELL = (tool("run", "command", command=TEXT, effect="unsafe"),)
GET = Action("get", {"url": "http://a/b?c=d e"})
POST = Action("post", {"url": "http://a", "body": {"b": [1]}})


@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize(
    "codec",
    [
        Commands(
            (
                Command("look", "LOOK {query}"),
                Command("move_file", "MOVE {source}\n{target}"),
                Command("now", "NOW"),
                Command("finish", "FINISH([{answer}])"),
            ),
            "bare",
        ),
        Commands(
            (
                Command("look", "```\n{query}\n```"),
                Command("move_file", "MOVE {source} TO {target}"),
                Command("finish", "<answer>\n{answer}\n</answer>"),
            ),
            "block",
            counts="last",
        ),
    ],
    ids=lambda codec: codec.dialect,
)
def test_it_keeps_the_contract_in_any_dialect(check: Check, codec: Commands) -> None:
    check(codec)


def read(text: str, finish: Finish = "stop", codec: Commands = WEB) -> Any:
    return codec.parse(
        prompt_spec(tools=TOOLS if codec is WEB else SHELL), Reply(text, finish=finish)
    )


@pytest.mark.parametrize(
    ("text", "thought", "action", "repairs"),
    [
        ("GET http://a/b?c=d e", "", GET, ()),
        ("I look.\n\n  GET http://a/b?c=d e \n", "I look.", GET, ()),
        ("GET it first.\r\nGET http://a/b?c=d e", "GET it first.", GET, ()),
        ('POST http://a\n{"b": [1]}', "", POST, ()),
        ("POST http://a\n{'b': [1]}", "", POST, ("single quotes read as JSON",)),
        ('POST http://a\n{"b": [1]}\nFINISH([1])', "", POST, ("second action dropped",)),
        ('POST http://a\n{"b": [1]}\nDone.', "", POST, ("trailing text dropped",)),
        ("POST http://a\nb", "", Action("post", {"url": "http://a", "body": "b"}), ()),
        ("NOTE a\nb\n\nc\n", "", Action("note", {"title": "a", "text": "b\n\nc"}), ()),
        ("COPY it.\nCOPY a TO b", "COPY it.", Action("copy", {"source": "a", "target": "b"}), ()),
        (
            "<mark>\na\nb\n</mark> AS c.",
            "",
            Action("mark", {"text": "a\nb", "title": "c"}),
            (),
        ),
        ("LISTS\nLIST", "LISTS", Action("list"), ()),
        ("RANK [a] OVER 2", "", Action("rank", {"first": "a", "second": 2}), ()),
        ("FINISH([-1])", "", Action("finish", {"answer": "-1"}), ()),
        ("FINISH([a [b] c])", "", Action("finish", {"answer": "a [b] c"}), ()),
        ('FINISH(["a ]) b", {}])', "", Action("finish", {"answer": '"a ]) b", {}'}), ()),
        ('@now {"depth": "a"}', "", Action("now", {"depth": "a"}), ()),
        ("@now {'depth': 'a'}", "", Action("now", {"depth": "a"}), ("single quotes read as JSON",)),
        ('@strange {"a": 1}', "", Action("strange", {"a": 1}), ()),
        ("a\nGET http://a/b?c=d e\nObservation: no\nLIST", "a", GET, "invented observation"),
    ],
)
def test_a_command_is_read(text: str, thought: str, action: Action, repairs: Any) -> None:
    parsed = read(text)
    assert (parsed.fault, parsed.text, parsed.actions) == ("", thought, (action,))
    if isinstance(repairs, str):
        assert parsed.repairs == (f"{repairs} dropped",)
    else:
        assert parsed.repairs == repairs


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('FINISH [{"a": "]"}]', '{"a": "]"}'),
        ("FINISH[a]", "a"),
        ("FINISH(a)", "a"),
        ('FINISH({"a": 1})', '{"a": 1}'),
        ("FINISH({a})", "{a}"),
        ("FINISH([a]", "a"),
        ("FINISH({1} {2})", "{1} {2}"),
        ('FINISH({"a": 1} {2})', '{"a": 1} {2}'),
    ],
)
def test_other_brackets_than_those_of_the_form_will_do(text: str, answer: str) -> None:
    parsed = read(text)
    assert parsed.actions == (Action("finish", {"answer": answer}),)
    assert parsed.repairs == ("brackets read as those of the form",)


@pytest.mark.parametrize(
    ("text", "thought", "action"),
    [
        ("```\nGET http://a/b?c=d e\n```\n", "", GET),
        ("So:\n```tool_code\n\nGET http://a/b?c=d e\n```", "So:", GET),
        ("```\nGET http://a/b?c=d e", "", GET),
        ('```\nPOST http://a\n{"b": [1]}\n```', "", POST),
        ("```\nNOTE a\nb\n```", "", Action("note", {"title": "a", "text": "b"})),
        ('```\n@now {"depth": "a"}\n```', "", Action("now", {"depth": "a"})),
        (
            "```\nNOTE a\n```\nb\n```\n```",
            "",
            Action("note", {"title": "a", "text": "```\nb\n```"}),
        ),
        ("```\nFINISH([a])\n```", "", Action("finish", {"answer": "a"})),
    ],
)
def test_a_fence_around_a_command_is_no_part_of_it(text: str, thought: str, action: Action) -> None:
    parsed = read(text)
    assert (parsed.text, parsed.actions) == (thought, (action,))
    assert parsed.repairs == ("code fence removed",)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "the reply was empty"),
        ("GET the report.", "no line of the reply begins a command"),
        ('```json\n{"name": "GET"}\n```', "no line of the reply begins a command"),
        ("POST http://a\n{b: {", "the JSON ends before it is closed"),
        ("FINISH([a", "the command for finish is never closed"),
        ("<mark>\na\n</mark> BY c", "the command for mark is never closed"),
        ("<mark>\na", "the command for mark is never closed"),
        ("<mark>\na\n</mark> AS c", "the command for mark is never closed"),
        ("RANK [a] UNDER 2", "the brackets for rank are not those of its form"),
        ("FINISH([1] and [2])", "the brackets for finish are not those of its form"),
        ("FINISH([{a}, b] c", "the brackets for finish are not those of its form"),
        ("```\nNOTE a\n```", "a fence ends the command before it is complete"),
        ("```\nEND\n```", "a fence ends the command before it is complete"),
        ("@now {", "the JSON ends before it is closed"),
    ],
)
def test_what_is_no_command_is_a_fault(text: str, fault: str) -> None:
    parsed = read(text)
    assert (parsed.actions, parsed.fault.partition(". The right form")[0]) == ((), fault)
    assert parsed.fault.endswith("GET <url>") or "@get" in parsed.fault


def test_a_reply_that_was_cut_is_a_fault() -> None:
    assert "length limit" in read("GET http://a", "length").fault
    assert read("GET http://a\nObservation: b", "length").actions


@pytest.mark.parametrize(
    ("text", "command", "repairs"),
    [
        ("I look.\n```\nls -a\n```", "ls -a", ()),
        ("I look.\n```bash\nls\npwd  \n```\n", "ls\npwd  ", ()),
        ("A `list` of ```x``` it is.\n```\nls\n```", "ls", ()),
        ("```\n\n```", "", ()),
        ("```\nls\n```\nThat lists them.", "ls", ("trailing text dropped",)),
        ("It has\n```\nx = 1\n```\nso I open it.\n```\ncat a\n```", "cat a", "earlier"),
    ],
)
def test_the_block_that_ends_a_reply_is_its_command(text: str, command: str, repairs: Any) -> None:
    parsed = read(text, codec=BLOCK)
    assert parsed.actions == (Action("run", {"command": command}),)
    wanted = ("earlier commands kept as thought",) if repairs == "earlier" else repairs
    assert parsed.repairs == wanted
    assert parsed.text == text[: text.rindex("```", 0, text.rindex("```"))].strip()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("```\nls\n```\nand then\n```\nrm a\n```\nThat is all.", "none ends the reply"),
        ("```\nls\n```\nand then\n```\nrm a", "never closed"),
        ("I look.", "no line of the reply"),
    ],
)
def test_where_it_is_unclear_which_block_is_meant_nothing_is_done(text: str, fault: str) -> None:
    parsed = read(text, codec=BLOCK)
    assert not parsed.actions
    assert fault in parsed.fault


def test_a_form_is_told_and_a_value_that_does_not_fit_it_is_written_as_json() -> None:
    asked = prompt_spec(tools=TOOLS)
    head = WEB.head(asked, "What is there?")[0].text
    assert "- GET <url>: Does get." in head
    assert '- @now {"depth": ...}: Does now.' in head
    assert "FINISH([the answer])" in head
    typed = prompt_spec(POINT, tools=())
    assert "FINISH([JSON of the schema {" in WEB.head(typed, "Where?")[0].text
    written = WEB.render(asked, step("I write.", Action("note", {"title": "a", "text": "b\n"})))
    assert written[0].text == 'I write.\n@note {"title":"a","text":"b\\n"}'
    odd = Action("note", {"title": "a", "text": "b\nObservation: c"})
    assert WEB.render(asked, step("", odd))[0].text.startswith('@note {"title":"a"')
    plain = Commands((), "plain")
    assert '@finish {"answer": "the answer"}' in plain.head(prompt_spec(), "What?")[0].text
    assert '@finish {"answer": JSON of' in plain.head(typed, "What?")[0].text


def test_a_thought_that_holds_commands_or_fences_is_written_as_a_thought() -> None:
    thought = "Question: is it so?\nGET http://a would do.\n@now {} too\nQuestion: or not?\n```"
    seen = (Observation(content="seen"),)
    told = WEB.render(prompt_spec(tools=TOOLS), step(thought, Action("list"), seen=seen))[0].text
    assert told.splitlines() == [*(f"| {line}" for line in thought.splitlines()), "LIST"]
    assert read(told).actions == (Action("list"),)


def test_a_stream_shows_nothing_behind_an_invented_observation() -> None:
    shown: list[str] = []
    take = WEB.stream_filter(shown.append)
    pieces = ("GET http://a\nObser", "vation: b\n", "c")
    assert [take(piece) for piece in pieces] == [False, False, False]
    assert "".join(shown) == "GET http://a\n"


@pytest.mark.parametrize(
    ("form", "why"),
    [
        ("{a} b", "must begin with words of its own"),
        ("  \n{a}", "must begin with words of its own"),
        ("A {a} {a}", "has a parameter twice"),
        ("A {a}{b}", "must have words between two parameters"),
    ],
)
def test_a_form_that_could_not_be_read_back_is_refused(form: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        Command("a", form)


@pytest.mark.parametrize("dialect", ["", "a/b", "a\nb"])
def test_a_dialect_has_a_name_for_the_record(dialect: str) -> None:
    assert WEB.name == "commands:web/2"
    with pytest.raises(ConfigError, match="named by a word"):
        Commands((), dialect)


ACTING = (
    tool("run", "command", command=TEXT, effect="unsafe"),
    tool("send", "to", "text", to=TEXT, text=TEXT, effect="idempotent"),
    tool("put", "url", "body", url=TEXT, body={"type": "object"}, effect="unsafe"),
    tool("ping", effect="unsafe"),
)
OPEN = Commands(
    (
        Command("run", "RUN {command}"),
        Command("send", "<send>\n{text}\n</send> TO {to}!"),
        Command("put", "PUT {url}\n{body}"),
        Command("ping", "PING"),
    ),
    dialect="open",
)


@pytest.mark.parametrize(
    "text",
    [
        "RUN rm -rf /tmp/a",
        "RUN rm -rf /tmp/a\n",
        '@run {"command": "\\ud83d"}',
        '@run {"command": "a',
        "<send>\na\n</send> TO b",
        "<send>\na\n</send> TO b! and c!",
        "<send>\na\n</send> TO b!\nc\n</send> TO d!",
        'PUT http://a\n{"b": 1',
    ],
)
def test_a_command_of_an_effect_that_may_not_be_whole_is_a_fault(text: str) -> None:
    parsed = OPEN.parse(prompt_spec(tools=ACTING), Reply(text))
    assert parsed.actions == ()
    assert parsed.fault


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ('@run {"command": "ls"}', Action("run", {"command": "ls"})),
        ("<send>\na\n</send> TO b!", Action("send", {"text": "a", "to": "b"})),
        ('PUT http://a\n{"b": 1}', Action("put", {"url": "http://a", "body": {"b": 1}})),
        ("PING", Action("ping")),
    ],
)
def test_a_command_of_an_effect_that_ends_is_made(text: str, action: Action) -> None:
    assert OPEN.parse(prompt_spec(tools=ACTING), Reply(text)).actions == (action,)


def test_a_form_without_an_end_is_not_shown_for_an_effect() -> None:
    head = OPEN.head(prompt_spec(tools=ACTING), "Clean up.")[0].text
    assert '@run {"command": ...}' in head
    assert "RUN <command>" not in head
    assert "PUT <url>" in head
