"""A server over stdio that dies at a method: `python dying_server.py METHOD[#2] HOW`.

`#2` is the second time that it is asked. HOW is a way to go ("exit", "words", "kill", "half",
"close") or a result to answer with, in JSON.
"""

import json
import os
import signal
import sys
import time
from typing import Any

RESULTS: dict[str, Any] = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
        "serverInfo": {"name": "frail", "version": "1"},
    },
    "tools/list": {"tools": [{"name": "one", "inputSchema": {"type": "object"}}]},
    "tools/call": {"content": [{"type": "text", "text": "hello"}]},
    "prompts/list": {"prompts": [{"name": "greet"}]},
    "prompts/get": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "Greet Ada."}}]
    },
    "resources/list": {"resources": [{"uri": "file:///a", "name": "a"}]},
    "resources/templates/list": {"resourceTemplates": []},
    "resources/read": {"contents": [{"uri": "file:///a", "text": "AAA"}]},
}


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def die(how: str, number: Any) -> None:
    """Go away, or answer with what is given."""
    match how:
        case "exit":
            os._exit(0)
        case "words":
            sys.stderr.write("no token\nI give up\n")
            sys.stderr.flush()
            os._exit(1)
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "half":
            os.write(1, b'{"jsonrpc": "2.0", "id": %d, "resu' % (number or 0))
            os._exit(1)
        case "close":
            os.close(1)
            time.sleep(60)
        case _:
            send({"id": number, "result": json.loads(how)})


def main() -> None:
    wanted, how = sys.argv[1:]
    method, _, turn = wanted.partition("#")
    met = 0
    for line in sys.stdin:
        message = json.loads(line)
        asked, number = message["method"], message.get("id")
        met += asked == method
        if asked == method and met == int(turn or 1):
            die(how, number)
        elif number is not None and asked in RESULTS:
            more = {"nextCursor": "2"} if (asked, turn, met) == ("tools/list", "2", 1) else {}
            send({"id": number, "result": {**RESULTS[asked], **more}})
        elif number is not None:
            send({"id": number, "error": {"code": -32601, "message": "unknown"}})


if __name__ == "__main__":
    main()
