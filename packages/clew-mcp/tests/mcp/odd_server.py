"""A server whose frames are not to the letter: `python odd_server.py FAULT METHOD TWO` over stdio.

The functions are also those of the server over HTTP in `test_odd_frames.py`. It sends the answer to
METHOD with the fault; where TWO is "two", only that to the first of two calls, once both are there.
"""

import json
import os
import sys
from typing import Any

TOOL = {"name": "a", "inputSchema": {"type": "object"}}
DEEP = "[" * 3_000 + "]" * 3_000
LONG = "9" * 6_000
INFO = {"serverInfo": {"name": "odd", "version": "1"}, "capabilities": {"tools": {}}}


def result_of(method: str) -> dict[str, Any] | None:
    """What a good server would say."""
    results: dict[str, dict[str, Any]] = {
        "initialize": {"protocolVersion": "2025-06-18", **INFO},
        "tools/list": {"tools": [TOOL]},
        "tools/call": {"content": [{"type": "text", "text": "found"}]},
    }
    return results.get(method)


def good(number: Any, result: dict[str, Any] | None) -> dict[str, Any]:
    said = {"error": {"code": -32601, "message": "unknown"}} if result is None else {}
    return {"jsonrpc": "2.0", "id": number, **(said or {"result": result})}


def strangers(number: int) -> dict[str, str]:
    """Answers to requests that were never made, or were answered before (`number` was not)."""
    result = {"content": [{"type": "text", "text": "a stranger's"}]}
    said = {"jsonrpc": "2.0", "result": result}
    error = {"code": -32601, "message": "a stranger's"}
    return {
        "a result for nobody": json.dumps({**said, "id": 987_654}),
        "an error for nobody": json.dumps({"jsonrpc": "2.0", "id": 987_654, "error": error}),
        "a result for a text": json.dumps({**said, "id": f"req-{number}"}),
        "a result for a fraction of nobody": json.dumps({**said, "id": 987_654.0}),
        "a broken result for nobody": json.dumps({**said, "id": 987_654})[:-1] + ",}",
        "a result for one before": json.dumps({**said, "id": number - 1}),
        "a broken result for one before": json.dumps({**said, "id": number - 1})[:-1] + ",}",
    }


def frame(fault: str, number: Any, result: dict[str, Any] | None) -> bytes:
    """An answer with a fault."""
    said = good(number, result)
    text = json.dumps(said)
    body = json.dumps(result)
    head = f'{{"jsonrpc": "2.0", "id": {number}'
    without = {key: it for key, it in said.items() if key != "jsonrpc"}
    frames: dict[str, Any] = {
        # what is meant is plain
        "no version": without,
        "another version": {**without, "jsonrpc": "1.0"},
        "a version that is a number": {**without, "jsonrpc": 2.0},
        "over several lines": json.dumps(said, indent=2),
        "two lines": text.replace('"result"', '\n"result"'),
        "line breaks in a text": f'{head}, "title": "a\nb\n\nc", "result": {body}}}',
        "no version over several lines": json.dumps(without, indent=1),
        "id null": {**said, "id": None},
        "no id": {key: it for key, it in said.items() if key != "id"},
        "an id of nobody": {**said, "id": 987_654},
        "an id that is true": {**said, "id": True},
        "an id as a list": {**said, "id": [number]},
        "an id as a float": {**said, "id": float(number)},
        "an id as a text": {**said, "id": str(number)},
        "an id as a float in a text": {**without, "id": float(number)},
        "a byte order mark": b"\xef\xbb\xbf" + text.encode(),
        "a batch": [said],
        "a batch without versions": [without],
        "a log line before it": f"working ... {text}",
        "a log line behind it": f"{text} done",
        "twice in a line": f"{text}{text}",
        "3,000 levels": f'{head}, "result": {body[:-1]}, "_meta": {{"x": {DEEP}}}}}}}',
        "3,000 levels beside it": f'{head}, "x": {DEEP}, "id": null, "result": {body}}}',
        "a number of 6,000 digits": f'{head}, "result": {body[:-1]}, "_meta": {{"x": {LONG}}}}}}}',
        "half a character": f'{head}, "result": {body[:-1]}, "_meta": {{"x": "\\ud83d"}}}}}}',
        "a byte of Latin-1": text.encode().replace(b'"result"', b'"t": "\xfc", "result"'),
        "a control character": text.replace('"result"', '"t": "\x01\x00", "result"'),
        "no number": text.replace('"result"', '"t": NaN, "result"'),
        "carriage returns": json.dumps(said, indent=1).replace("\n", "\r\n"),
        # another's, and then its own
        **{name: f"{strange}\n{text}" for name, strange in strangers(number).items()},
        # what is meant cannot be told
        "cut": text[:-9],
        "cut before the result": head,
        "a comma too much": f'{head}, "result": {body},}}',
        "as Python writes it": str(said),
        "a result that is a number": {**said, "result": 7},
        "a result that is a list": {**said, "result": ["found"]},
        "neither result nor error": {key: it for key, it in said.items() if key != "result"},
        "no id, and a comma too much": f'{{"jsonrpc": "2.0", "result": {body},}}',
        "id null, and cut": f'{{"jsonrpc": "2.0", "id": null, "result": {body[:-9]}',
        "no colon": f'{head}, "result" {body}}}',
        "a bracket of another kind": f'{head}, "result": {body}]',
    }
    made = frames[fault]
    if isinstance(made, bytes):
        return made
    return (made if isinstance(made, str) else json.dumps(made)).encode()


def main(fault: str, method: str, two: str) -> None:
    waiting: list[Any] = []
    for line in sys.stdin:
        said = json.loads(line)
        number = said.get("id")
        if number is None:
            continue
        result = result_of(said["method"])
        if said["method"] != method:
            out = json.dumps(good(number, result)).encode()
        elif two == "two" and not waiting:
            waiting.append(number)
            continue
        elif two == "two" and len(waiting) == 1:
            waiting.append(number)
            out = frame(fault, waiting[0], result)
            out += b"\n" + json.dumps(good(number, result)).encode()
        else:
            out = frame(fault, number, result)
        os.write(1, out + b"\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
