"""What a server says reaches a terminal as text: names, descriptions, errors, its stderr."""

import json
import sys
from pathlib import Path

import pytest

from clew_testing.servers.openai_server import OpenAIServer, Say
from tests.cli.test_terminals import EVIL, acting, watched
from tests.mcp.servers import SCRIPT, definition, plain_server

LOUD = """\
import json, sys
said = json.loads(open(sys.argv[1]).read())
sys.stderr.write(said)
sys.stderr.flush()
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"],
                                     "error": {"code": -32000, "message": said}}) + "\\n")
        sys.stdout.flush()
"""


def test_what_a_server_says_of_itself_and_its_tools() -> None:
    tools = [
        definition("echo", title=EVIL, annotations={"title": EVIL, EVIL: True}),
        definition(EVIL),
        definition("bad", outputSchema=EVIL),
    ]
    tools[0]["description"] = EVIL
    plain_server(Path.cwd() / "plain", tools=tools, instructions=EVIL)
    Path("agent.toml").write_text(
        f'model = "openai:test"\n[[mcp]]\nname = "plain"\n'
        f'command = "{sys.executable}"\nargs = ["{SCRIPT}", "plain/server.json"]\n'
    )
    for words in (
        ("mcp", "list"), ("mcp", "list", "--json"), ("mcp", "pins"), ("mcp", "pins", "--json"),
        ("mcp", "pins", "list", "--check"), ("mcp", "pins", "accept", "plain"),
        ("tools", "list"),
    ):  # fmt: skip
        seen = watched(*words, "--agent", "agent.toml")
        assert seen
        assert acting(seen) == [], words
    with OpenAIServer([Say(calls=[("plain_echo", "{}")]), Say("done")]) as server:
        env = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-test-0123456789"}
        seen = watched("ask", "Echo", "--agent", "agent.toml", **env)
    assert "plain_echo" in seen
    assert acting(seen) == []


@pytest.mark.parametrize("words", [(), ("--debug",)])
def test_what_a_server_writes_to_stderr_and_in_errors(words: tuple[str, ...]) -> None:
    Path("loud.py").write_text(LOUD)
    Path("said.json").write_text(json.dumps(EVIL))
    seen = watched("mcp", "list", "--mcp", f"loud={sys.executable} loud.py said.json", *words)
    assert "EVIL" in seen
    assert acting(seen) == []
    assert len([line for line in seen.splitlines() if line.startswith("clew:")]) == 1
