"""A server of MCP (2025-06-18) written by hand, over stdio: `python far_server.py FOLDER [HANGS]`.

Its tool `send` writes to the ledger that its environment names, says in which folder it runs, and
asks back what a client may be asked. What comes in is written to FOLDER/frames. HANGS names what is
never answered: "call", or "beginning", which is for the second process and all further ones.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

Ask = Callable[[str, dict[str, Any]], dict[str, Any]]

ONE: Final = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
LISTS: Final = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
        "serverInfo": {"name": "far", "version": "1"},
    },
    "tools/list": {
        "tools": [
            {"name": "send", "description": "Sends from afar.", "inputSchema": ONE},
            {"name": "other", "description": "Does something else.", "inputSchema": ONE},
        ]
    },
    "prompts/list": {"prompts": [{"name": "greet"}]},
    "resources/list": {"resources": [{"uri": "file:///a", "name": "a"}]},
    "resources/templates/list": {"resourceTemplates": []},
    "resources/read": {"contents": [{"uri": "file:///a", "text": "AAA"}]},
    "ping": {},
}
QUESTION: Final = {
    "messages": [{"role": "user", "content": {"type": "text", "text": "A question from afar."}}],
    "maxTokens": 10,
}


def sent(text: str, ledger: str) -> str:
    """Send a text: the effect."""
    if ledger:
        with Path(ledger).open("a", encoding="utf-8") as file:
            file.write(f"far_send {text}\n")
    return f"Ann has it: {text}"


def answer(message: dict[str, Any], ledger: str, ask: Ask | None = None) -> dict[str, Any]:
    """What answers a request; `ask` asks the client back, where there is a way."""
    if message["method"] != "tools/call":
        if message["method"] in LISTS:
            return {"result": LISTS[message["method"]]}
        return {"error": {"code": -32601, "message": "no such method"}}
    text = sent(message["params"]["arguments"]["text"], ledger)
    if ask is not None:
        told = ask("sampling/createMessage", QUESTION), ask("roots/list", {})
        text += f"\nin {Path.cwd()}\n{json.dumps(told)}"
    return {"result": {"content": [{"type": "text", "text": text}]}}


def main(folder: Path, hangs: str) -> None:
    """Serve whoever started this."""

    def send(message: dict[str, Any]) -> None:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()

    def receive() -> dict[str, Any]:
        line = sys.stdin.readline()
        if not line:
            sys.exit()
        with (folder / "frames").open("a", encoding="utf-8") as file:
            file.write(line)
        message: dict[str, Any] = json.loads(line)
        return message

    waiting = list[dict[str, Any]]()
    """What came while an answer was awaited: workers at once share this server."""

    def ask(method: str, params: dict[str, Any]) -> dict[str, Any]:
        send({"id": f"far-{method}", "method": method, "params": params})
        while (reply := receive()).get("id") != f"far-{method}":
            waiting.append(reply)
        return reply

    while True:
        message = waiting.pop(0) if waiting else receive()
        begun = (folder / "frames").read_text("utf-8").count('"initialize"')
        hung = {"call": "tools/call", "beginning": "initialize" if begun > 1 else ""}.get(hangs)
        if "id" in message and message.get("method") != hung:
            send({"id": message["id"], **answer(message, os.environ.get("MATRIX_LEDGER", ""), ask)})


if __name__ == "__main__":
    main(Path(sys.argv[1]), "".join(sys.argv[2:]))
