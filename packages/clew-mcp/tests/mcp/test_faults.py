"""Servers that go wrong, through `clew ask`: one line or an observation, no hang, no traceback."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from clew_testing.servers.openai_server import OpenAIServer, Say
from tests.cli.shell import Done, clew
from tests.mcp.servers import SCRIPT, Plain, definition, plain_server
from tests.patience import PATIENCE

pytestmark = pytest.mark.slow  # each command imports the SDK

TOOLS = ("echo", "die", "huge", "never", "noise", "deaf")
SUM = ("ask", "What is 17 * 23?", "--model", "offline", "-q")
HANG = "import threading; threading.Event().wait()"
TALK = f"print('Welcome!', flush=True); {HANG}"
DEAF = f"import os; os.close(0); {HANG}"
HUGE = "import sys; sys.stdin.readline(); sys.stdout.write('x' * 100_000_000)"
GONE = "import sys; sys.exit('no such profile')"
OLD = (
    "import json, sys\n"
    "for line in sys.stdin:\n"
    "    said = json.loads(line)\n"
    "    if said['method'] == 'initialize':\n"
    "        it = {'result': {'protocolVersion': '1999-01-01', 'capabilities': {},\n"
    "                         'serverInfo': {'name': 'old', 'version': '1'}}}\n"
    "    else:\n"
    "        it = {'error': {'code': -32601, 'message': 'unknown method'}}\n"
    "    print(json.dumps({'jsonrpc': '2.0', 'id': said['id'], **it}), flush=True)\n"
)


def told(done: Done) -> str:
    """What went wrong: one line, and the exit code of what cannot be begun."""
    assert (done.code, done.out) == (2, "")
    (line,) = done.err.splitlines()
    return line


def agent_file(**table: Any) -> tuple[str, str]:
    """The option that names an agent file with one server."""
    lines = [f"{key} = {value!r}" for key, value in {"name": "x", **table}.items()]
    Path("agent.toml").write_text("\n".join(['model = "offline"', "[[mcp]]", *lines, ""]))
    return ("--agent", "agent.toml")


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("code", "why"),
    [
        (GONE, "it ended with exit code 1; it wrote: no such profile"),
        (HUGE, "it sent a message of more than 32 MB"),
        (DEAF, "it closed its input"),
        (OLD, "Unsupported protocol version from the server: 1999-01-01"),
        (HANG, "it did not answer in 2 s"),
        (TALK, "it did not answer in 2 s; it printed, in place of messages: Welcome!"),
    ],
)
def test_a_program_that_is_no_server_is_told_in_one_line(code: str, why: str) -> None:
    Path("server.py").write_text(code)
    silent = "did not answer" in why
    patience = 2.0 if silent else PATIENCE
    file = agent_file(command=sys.executable, args=["server.py"], connect_timeout=patience)
    line = told(clew(*SUM, *file))
    assert f"no connection to the MCP server x: {why} ({sys.executable} server.py)" in line
    assert "agent.toml, line 2: no connection" in line
    if not silent:  # an option has no other patience than 30 s
        near = told(clew(*SUM, "--mcp", f"x={sys.executable} server.py"))
        assert (
            near == f"clew: no connection to the MCP server x: {why} ({sys.executable} server.py)"
        )


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("pyhton server.py", "it cannot be started (No such file or directory) (pyhton server.py)"),
        ("http://127.0.0.1:1/mcp", "All connection attempts failed (http://127.0.0.1:1/mcp)"),
        (
            "htp://127.0.0.1:1/mcp",
            "the url of the MCP server x must begin with https:// or http://",
        ),
        ("http:/127.0.0.1/mcp", "and name a host"),
        ("http://127.0.0.1:99999/mcp", "and a port below 65536"),
    ],
)
def test_an_address_with_a_slip_is_told_in_one_line(line: str, why: str) -> None:
    assert why in told(clew(*SUM, "--mcp", f"x={line}"))
    is_url = "/mcp" in line
    command, *args = line.split()
    table: dict[str, Any] = {"url": line} if is_url else {"command": command, "args": args}
    assert why in told(clew(*SUM, *agent_file(**table)))


def test_two_servers_of_one_name_are_told_before_either_is_started() -> None:
    both = ("--mcp", "x=no-such-program", "--mcp", "x=http://127.0.0.1:1/mcp")
    for command in (SUM, ("mcp", "list")):
        assert "two MCP servers are called x: rename one (NAME=…)" in told(clew(*command, *both))
    Path("agent.toml").write_text('[[mcp]]\nname = "x"\ncommand = "a"\n' * 2)
    assert "two MCP servers are called x" in told(clew(*SUM, "--agent", "agent.toml"))


class Answer(BaseHTTPRequestHandler):
    """One answer to whatever is asked."""

    status = 200
    kind = "application/json"
    body = b""
    never: Event | None = None

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        if self.never is not None:
            self.never.wait()
        self.send_response(self.status)
        self.send_header("content-type", self.kind)
        self.send_header("content-length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as the library names it
        """Nobody reads it."""


@contextmanager
def at_a_url(**answer: Any) -> Iterator[str]:
    """Something that answers at a URL."""
    with ThreadingHTTPServer(("127.0.0.1", 0), type("Mine", (Answer,), answer)) as server:
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/mcp"
        if (never := answer.get("never")) is not None:
            never.set()
        server.shutdown()


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"status": 401}, "HTTP 401 Unauthorized"),
        ({"status": 401, "body": b'{"error": "the token expired"}'}, "HTTP 401 Unauthorized"),
        ({"status": 404, "kind": "text/html"}, "HTTP 404 Not Found"),
        ({"kind": "text/html", "body": b"<p>Hello"}, "Unexpected content type"),
        ({"body": b"{"}, "its answer is not a message of the protocol: {"),
        ({"body": b"[" * 100_000_000}, "the answer is longer than 32 MB"),
        ({"never": Event()}, "it did not answer in 2 s"),
    ],
)
def test_what_is_no_server_at_a_url_is_told_in_one_line(answer: dict[str, Any], why: str) -> None:
    with at_a_url(**answer) as url:
        patience = 2.0 if "never" in answer else PATIENCE
        assert why in told(clew(*SUM, *agent_file(url=url, connect_timeout=patience)))
        if "never" not in answer:
            assert why in told(clew(*SUM, "--mcp", f"x={url}"))


@pytest.fixture
def plain() -> Plain:
    """A server that is pinned."""
    made = plain_server(Path.cwd() / "plain", tools=[*map(definition, TOOLS)])
    clew("mcp", "list", *plain_agent(made, 120.0))
    return made


def plain_agent(plain: Plain, patience: float) -> tuple[str, str]:
    """The option that names its agent file."""
    table = {"name": "plain", "command": sys.executable, "args": [str(SCRIPT), str(plain.file)]}
    return agent_file(**table, connect_timeout=patience, timeout=patience)


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("said", "tool", "words"),
    [
        ({"handshake": "die"}, "echo", "it ended with exit code 7; it wrote: I cannot go on"),
        ({"handshake": "silent"}, "echo", "it did not answer in 2 s"),
        ({"handshake": "huge"}, "echo", "it sent a message of more than 32 MB"),
        ({"protocol": "1999-01-01"}, "echo", "Unsupported protocol version"),
        ({}, "die", "the MCP server plain went away in mid-call"),
        ({}, "huge", "it sent a message of more than 32 MB"),
        ({}, "never", "plain_never did not end in 2 s"),
        ({}, "noise", "said"),
        ({}, "deaf", "pardon?"),
    ],
)
def test_a_server_that_goes_wrong_later_is_an_observation(
    plain: Plain, said: dict[str, Any], tool: str, words: str
) -> None:
    plain.says(**said)
    file = plain_agent(plain, 2.0 if said == {"handshake": "silent"} or tool == "never" else 120.0)
    call = Say(calls=[(f"plain_{tool}", '{"text": "x"}')])
    with OpenAIServer([call, Say("That is all.")]) as model:
        env = {"OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": "sk-0123456789"}
        done = clew("ask", "Go.", "--model", "openai:test", *file, env=env)
    assert done.code == 0
    assert "That is all." in done.out
    assert words in " ".join(done.out.split())
