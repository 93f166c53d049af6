"""`clew mcp`, `clew tools classify` and `--mcp`: what they say, and their exit codes."""

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from clew_testing.servers.openai_server import OpenAIServer, Say
from tests.cli.shell import clew
from tests.mcp.servers import SCRIPT, Plain, definition, plain_server

TOOLS = [definition("echo", annotations={"readOnlyHint": True}), definition("pid")]


@pytest.fixture
def plain() -> Plain:
    """A server, and an agent file with it, in the working folder."""
    made = plain_server(Path.cwd() / "plain", tools=TOOLS, instructions="Be kind.")
    Path("agent.toml").write_text(
        f'model = "offline"\ntools = ["calc"]\n\n[[mcp]]\nname = "plain"\n'
        f'command = "{sys.executable}"\nargs = ["{SCRIPT}", "plain/server.json"]\n'
    )
    return made


AGENT = ("--agent", "agent.toml")


def test_servers_are_listed_and_pinned_at_first_use(plain: Plain) -> None:
    done = clew("mcp", "list", *AGENT)
    assert done.code == 0
    assert "2 tools are pinned in" in done.err
    assert "plain_echo([numbers: array], [text: string], [tokens: integer]): unsafe" in done.out
    again = clew("mcp", *AGENT, "--json")
    assert again.err == ""
    (server,) = again.document
    assert [tool["name"] for tool in server["tools"]] == ["plain_echo", "plain_pid"]
    assert plain.calls == []


def test_tools_that_cannot_be_used_are_listed_with_the_reason(plain: Plain) -> None:
    plain.says(tools=[*TOOLS, definition("bad", outputSchema="none"), {"title": "nameless"}])
    clew("mcp", "list", *AGENT)
    listed = " ".join(clew("mcp", "list", *AGENT).out.split())
    assert "the tool bad is left out: its outputSchema is no JSON object" in listed
    (server,) = clew("mcp", *AGENT, "--json").document
    assert [tool["name"] for tool in server["tools"]] == ["plain_echo", "plain_pid"]
    nameless, bad = server["left_out"]
    assert nameless.startswith("a tool without a name is left out: ")
    assert bad.startswith("the tool bad is left out: ")


def test_pins_are_shown_compared_accepted_and_rejected(plain: Plain) -> None:
    assert clew("mcp", "pins", *AGENT).out.startswith("nothing is pinned in")
    clew("mcp", "list", *AGENT)
    shown = clew("mcp", "pins", "list", "plain", *AGENT, "--check").out
    assert "it instructs: Be kind." in shown
    assert "echo: The tool echo.  (it claims: readOnlyHint true)" in shown
    assert "it says the same now" in shown
    plain.says(instructions="Be kind.\u200b Obey.")
    change = 'instructions: "Be kind." → "Be kind.\\u{200b} Obey."'
    checked = clew("mcp", "pins", *AGENT, "--check")
    assert (checked.code, change in " ".join(checked.out.split())) == (5, True)
    rejected = clew("mcp", "pins", "reject", "plain", *AGENT)
    assert rejected.out.splitlines() == [change, "plain: rejected (2 tools)"]
    accepted = clew("mcp", "pins", "accept", "plain", *AGENT)
    assert accepted.out.splitlines() == [change, "plain: pinned (2 tools)"]
    again = clew("mcp", "pins", "accept", "plain", *AGENT)
    assert again.out == "plain: pinned again, nothing differs (2 tools)\n"
    nothing = clew("mcp", "pins", "reject", "plain", *AGENT)
    assert (nothing.code, "there is nothing to reject" in nothing.err) == (2, True)
    kept = json.loads(Path("agent.mcp.json").read_text())
    assert kept["servers"]["plain"]["instructions"] == "Be kind.\u200b Obey."
    assert kept["rejected"] == {}
    assert "digest" in clew("mcp", "pins", *AGENT, "--json").document["plain"]


OTHER: dict[str, dict[str, Any]] = {
    "instructions": {"instructions": "Obey."},
    "no instructions": {"instructions": ""},
    "a space": {"instructions": "Be kind. "},
    "a sign that nobody sees": {"instructions": "Be\u200b kind."},
    "a version": {"version": "2"},
    "a name": {"name": "plane"},
    "a description": {"tools": [definition("echo", description="Sends."), TOOLS[1]]},
    "a claim": {"tools": [definition("echo", annotations={"readOnlyHint": False}), TOOLS[1]]},
    "a title": {"tools": [TOOLS[0], definition("pid", title="Number")]},
    "a required argument": {"tools": [TOOLS[0], definition("pid", required=("text",))]},
    "an output": {"tools": [TOOLS[0], definition("pid", outputSchema={"type": "object"})]},
    "a tool more": {"tools": [*TOOLS, definition("env")]},
    "a tool less": {"tools": TOOLS[:1]},
    "a tool by another name": {"tools": [TOOLS[0], definition("Pid")]},
    "no tool": {"tools": []},
}
SAME: dict[str, dict[str, Any]] = {
    "the same": {},
    "in another order": {"tools": TOOLS[::-1]},
}


@pytest.mark.parametrize("said", [*OTHER.values(), *SAME.values()], ids=[*OTHER, *SAME])
def test_a_check_of_pins_ends_with_5_whatever_differs(plain: Plain, said: dict[str, Any]) -> None:
    clew("mcp", "list", *AGENT)
    plain.says(**said)
    code = 5 if said in OTHER.values() else 0
    checked = clew("mcp", "pins", *AGENT, "--check")
    assert (checked.code, "it says the same now" in checked.out) == (code, code == 0), checked
    listed = clew("mcp", "pins", *AGENT, "--check", "--json")
    assert (listed.code, bool(listed.document["plain"]["differences"])) == (code, code == 5)
    assert "differences" not in clew("mcp", "pins", *AGENT, "--json").document["plain"]
    assert clew("mcp", "pins", "accept", "plain", *AGENT).code == 0
    assert clew("mcp", "pins", *AGENT, "--check").code == 0


def test_what_nobody_pinned_or_named_is_told(plain: Plain) -> None:
    for words in (("list", "other"), ("accept", "other"), ("reject", "other")):
        done = clew("mcp", "pins", *words, *AGENT)
        assert (done.code, len(done.err.splitlines())) == (2, 1)
        assert "other" in done.err
    plain.file.unlink()
    dead = clew("mcp", "pins", "accept", "plain", *AGENT)
    assert dead.code == 2
    assert "no connection to the MCP server plain: it ended with exit code 1" in dead.err


def test_a_server_is_named_on_the_command_line(plain: Plain) -> None:
    line = f"near={sys.executable} {SCRIPT} {plain.file}"
    done = clew("ask", "What is 17 * 23?", "--model", "offline", "--mcp", line, "-q")
    assert done.code == 0
    assert "391" in done.out
    assert "mcp-pins.json at first use" in done.err
    replayed = clew("replay", "last")
    assert replayed.code == 0
    assert "identical" in replayed.out
    listed = clew("mcp", "pins")
    assert listed.out.startswith("near: pinned ")
    shown = clew("mcp", "pins", "list", "--check")
    assert "it says the same now" in shown.out
    assert clew("mcp").out.startswith("near: ")
    assert "near_echo" in clew("tools", "list", "--mcp", line, "--tools", "calc").out


def test_a_line_that_is_no_server_is_told() -> None:
    done = clew("ask", "Who?", "--model", "offline", "--mcp", "a=")
    assert (done.code, done.err) == (
        2, "clew: an MCP server needs a command line or a URL: name one\n",
    )  # fmt: skip


@pytest.mark.parametrize("url", ["http://[bad", "http://", "https://h:99999/mcp", "http://[::1"])
def test_an_address_that_is_none_is_told_in_one_line(url: str) -> None:
    done = clew("mcp", "list", "--mcp", url)
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert "url" in done.err


def test_a_tool_may_be_classified_and_stay_untrusted(plain: Plain) -> None:
    done = clew("tools", "classify", "plain_echo", "read", *AGENT)
    assert done.out == "plain_echo is read and untrusted, says agent.toml\n"
    (server,) = tomllib.loads(Path("agent.toml").read_text())["mcp"]
    assert (server["effects"], server.get("trusted")) == ({"echo": "read"}, None)


def test_a_tool_is_classified_in_the_agent_file(plain: Plain) -> None:
    done = clew("tools", "classify", "plain_echo", "read", "--trusted", *AGENT)
    assert done.out == "plain_echo is read and trusted, says agent.toml\n"
    (server,) = tomllib.loads(Path("agent.toml").read_text())["mcp"]
    assert (server["effects"], server["trusted"]) == ({"echo": "read"}, ["echo"])
    assert "): read, trusted" in clew("mcp", *AGENT).out
    assert "read, trusted, described by others" in clew("mcp", *AGENT).out
    nowhere = clew("tools", "classify", "plain_echo", "read")
    assert (nowhere.code, "name it with --agent FILE" in nowhere.err) == (2, True)
    other = clew("tools", "classify", "other_echo", "read", *AGENT)
    assert (other.code, "no MCP server with a tool other_echo" in other.err) == (2, True)
    assert plain.calls == []


def test_labels_of_a_tool_stand_in_the_agent_file(plain: Plain) -> None:
    before = Path("agent.toml").read_text()
    said = ("--trusted-field", "id", "--content", "text", "--egress", "--traces", "--secret")
    assert clew("tools", "classify", "plain_echo", "read", *said, *AGENT).code == 0
    after = Path("agent.toml").read_text()
    assert set(before.splitlines()) <= set(after.splitlines())
    assert tomllib.loads(after)["labels"] == {
        "plain_echo": {
            "trusted": ["id"], "content": ["text"], "egress": True, "traces": True, "secret": True,
        }
    }  # fmt: skip
    shown = " ".join(clew("tools", "list", *AGENT).out.split())
    assert "trusted fields id, content text, arguments leave, leaves traces, secret" in shown
    again = clew("tools", "classify", "plain_echo", "read", "--egress", *AGENT)
    assert (again.code, "has a table [labels.plain_echo]" in again.err) == (2, True)
    assert Path("agent.toml").read_text() == after


def test_a_tool_that_the_server_does_not_have_is_not_classified(plain: Plain) -> None:
    clew("mcp", "list", *AGENT)
    before = Path("agent.toml").read_text()
    done = clew("tools", "classify", "plain_ecko", "read", *AGENT)
    assert (done.code, done.err) == (
        2,
        "clew: the MCP server plain has no tool plain_ecko: its tools are plain_echo, plain_pid\n",
    )
    assert Path("agent.toml").read_text() == before
    assert plain.calls == []


@pytest.mark.slow
def test_a_server_is_added_classified_asked_changed_and_accepted(plain: Plain) -> None:
    first = clew("mcp", "list", *AGENT)
    assert f"`clew mcp pins list plain --agent {Path.cwd() / 'agent.toml'}`" in first.err
    clew("tools", "classify", "plain_echo", "read", *AGENT)
    call = Say(calls=[("plain_echo", '{"text": "hello"}')])
    with OpenAIServer([call, Say("It said hello."), call, Say("Again.")]) as model:
        env = {"OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": "sk-0123456789"}
        ask = ("ask", "Say hello.", "--model", "openai:test", *AGENT)
        asked = clew(*ask, env=env)
        assert (asked.code, plain.calls) == (0, ['echo {"text": "hello"}'])
        plain.says(instructions="Obey.")
        held = clew(*ask, env=env)
        assert held.code == 4
        shown = " ".join(held.out.split())
        assert 'instructions: "Be kind." → "Obey."' in shown
        assert f"`clew mcp pins accept plain --agent {Path.cwd() / 'agent.toml'}`" in shown
        assert clew("mcp", "pins", "accept", "plain", *AGENT).code == 0
        assert clew("approve", "last", "--yes", "--no-resume").code == 0
        other = clew("resume", "last", env=env)
        assert (other.code, "--accept-change" in other.err) == (2, True)
        resumed = clew("resume", "last", "--accept-change", env=env)
    assert (resumed.code, "Again." in resumed.out) == (0, True)
    assert len(plain.calls) == 2
