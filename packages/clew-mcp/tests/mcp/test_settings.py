"""What a person says of a server, and what is refused of it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import ConfigError
from clew_mcp import McpAuth, McpServer, server_of_table
from clew_mcp.settings import printable, server_from, servers_by_name


@pytest.mark.parametrize(
    ("line", "name", "address"),
    [
        ("npx -y @scope/server-filesystem .", "filesystem", "npx -y @scope/server-filesystem ."),
        ("files=npx -y @scope/server-filesystem .", "files", "npx -y @scope/server-filesystem ."),
        ("uvx mcp-server-git --repository .", "git", "uvx mcp-server-git --repository ."),
        ("python my_server.py 'a b'", "my-server", "python my_server.py 'a b'"),
        ("https://mcp.example.com/mcp", "example", "https://mcp.example.com/mcp"),
        ("http://127.0.0.1:8000/mcp", "server", "http://127.0.0.1:8000/mcp"),
        ("there=https://api.org/x?a=b", "there", "https://api.org/x?a=b"),
        ("./7", "server", "./7"),
    ],
)
def test_a_line_names_a_server(line: str, name: str, address: str) -> None:
    server = server_from(line)
    assert (server.name, server.address) == (name, address)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"name": "a b", "command": "x"}, "is no name for an MCP server"),
        ({"name": "a"}, "needs a command or a url, and not both"),
        ({"name": "a", "command": "x", "url": "https://a"}, "needs a command or a url"),
        ({"name": "a", "url": "ftp://a"}, "must begin with https://"),
        ({"name": "a", "command": "x", "auth": McpAuth()}, "no url to sign in at"),
        ({"name": "a", "command": "x", "sampling": -1}, "sampling is -1: give 0 or more"),
        ({"name": "a", "command": "x", "timeout": 0}, "must be positive"),
        ({"name": "a", "command": "x", "connect_timeout": 0}, "must be positive"),
        ({"name": "a", "command": "x", "env": {"API_KEY": "abc"}}, "name a variable"),
        ({"name": "a", "url": "https://a", "headers": {"Authorization": "abc"}}, "name a variable"),
        ({"name": "a", "url": "https://a", "auth": McpAuth(client_secret="x")}, "name a variable"),
        ({"name": "a", "url": "https://me:secret@a/mcp"}, "has a password in it"),
        ({"name": "a", "url": "https://a", "headers": {"a b": "c"}}, "a b"),
    ],
)
def test_what_can_be_no_server_is_refused(said: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        McpServer(**said)


@pytest.mark.parametrize("line", ["", "  ", "name=", "npx 'half"])
def test_a_line_that_names_nothing_is_refused(line: str) -> None:
    with pytest.raises(ConfigError, match=r"server|command line"):
        server_from(line)


def test_a_table_that_describes_no_server_is_refused() -> None:
    assert server_of_table({"name": "a", "command": "x"}).address == "x"
    with pytest.raises(ConfigError, match=r"^Object contains unknown field `nam`$"):
        server_of_table({"nam": "a"})


def test_two_servers_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigError, match="two MCP servers are called git: rename one"):
        servers_by_name([server_from("uvx mcp-server-git"), server_from("git=other")])


def test_variables_get_their_values_when_they_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "abc")
    auth = McpAuth(client_id="me", client_secret="${TOKEN}")
    server = McpServer(
        name="a", url="https://a/${TOKEN}", headers={"Authorization": "Bearer ${TOKEN}"}, auth=auth
    )
    assert "abc" not in server.key + server.address
    full = server.endpoint
    assert (full.url, full.headers) == ("https://a/abc", {"Authorization": "Bearer abc"})
    assert full.client_secret == "abc"
    monkeypatch.delenv("TOKEN")
    with pytest.raises(ConfigError, match="names the variable TOKEN, which is not set"):
        _ = server.endpoint


def test_what_cannot_be_seen_is_shown() -> None:
    text = "a\u200bb\n\u202ec\U000e0041\ufe0f é…漢"
    assert printable(text) == "a\\u{200b}b\\n\\u{202e}c\\u{e0041}\\u{fe0f} é…漢"


@given(st.text())
def test_what_is_shown_is_on_one_line(text: str) -> None:
    assert printable(text).isprintable() or max(text) >= "\ufe00"
    assert len(printable(text).splitlines()) <= 1
    json.dumps(printable(text)).encode()
