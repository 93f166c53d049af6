"""A server of MCP (2025-11-25) over stdio, written by hand: `python plain_server.py SETTINGS`.

It needs no SDK, so it starts in no time, and a test may have it do what no SDK would: answer never,
die in mid-call, speak another version, send 100 MB. SETTINGS is a JSON file, read anew for each
list: `tools`, `name`, `version`, `instructions`, `protocol`, `log` (each call is written there) and
`handshake` ("die", "silent", "huge"), `restless` (announces a change before each list) and
`no_list` (a file: while it is there, the next list is refused). Tasks lie in files beside it, and
outlive the process.
"""

import json
import os
import sys
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

SETTINGS = Path(sys.argv[1])
OUT = threading.Lock()
ANSWERS: dict[str, Any] = {}
CANCELLED: set[Any] = set()


def settings() -> dict[str, Any]:
    said: dict[str, Any] = json.loads(SETTINGS.read_text("utf-8"))
    return said


def send(message: dict[str, Any]) -> None:
    with OUT:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def log(line: str) -> None:
    if place := settings().get("log"):
        with Path(place).open("a") as file:
            file.write(line + "\n")


def text(said: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": said}], **more}


def ask(method: str, params: dict[str, Any]) -> Any:
    """Ask the client something, and wait for its answer."""
    number = f"s{uuid.uuid4().hex}"
    send({"id": number, "method": method, "params": params})
    while number not in ANSWERS:
        time.sleep(0.005)
    return ANSWERS.pop(number)


def elicit() -> Any:
    message = settings().get("asks", "which size?")
    schema = {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}
    return ask("elicitation/create", {"message": message, "requestedSchema": schema})


class Call(NamedTuple):
    """A call as a tool sees it."""

    args: dict[str, Any]
    number: Any
    token: Any


def total(call: Call) -> dict[str, Any]:
    found = {"total": sum(call.args["numbers"])}
    return text(json.dumps(found), structuredContent=found)


def never(call: Call) -> dict[str, Any]:
    while call.number not in CANCELLED:
        time.sleep(0.005)
    return text("cancelled")


def slow(call: Call) -> dict[str, Any]:
    for step in (1, 2, 3):
        news = {"progressToken": call.token, "progress": step, "total": 3, "message": "at it"}
        send({"method": "notifications/progress", "params": news})
    return text("done")


def hasty(call: Call) -> dict[str, Any]:
    """Asks, and does not wait for the answer once the file `go` is there."""
    schema = {"type": "object", "properties": {}}
    question = {"message": "may I?", "requestedSchema": schema}
    send({"id": "hasty", "method": "elicitation/create", "params": question})
    while not (SETTINGS.parent / "go").exists():
        time.sleep(0.005)
    return text("did it anyway")


def mute(call: Call) -> dict[str, Any]:
    """Closes its output, and lives on."""
    os.close(1)
    return never(call)


def visit(call: Call) -> dict[str, Any]:
    where = {"mode": "url", "message": "sign in", "url": "https://example.org/in"}
    answer = ask("elicitation/create", {**where, "elicitationId": "1"})
    return text(f"visited {answer['action']}")


def think(call: Call) -> dict[str, Any]:
    said = call.args.get("text", "how are you?")
    message = {"role": "user", "content": {"type": "text", "text": said}}
    if said == "picture":
        message["content"] = {"type": "image", "mimeType": "image/png", "data": "aGVsbG8="}
    params = {"messages": [message], "maxTokens": call.args.get("tokens", 10)}
    if said == "tools":
        params["tools"] = [{"name": "a", "inputSchema": {"type": "object"}}]
    answer = ask("sampling/createMessage", {**params, "systemPrompt": "be brief"})
    return text(json.dumps(answer))


def noise(call: Call) -> dict[str, Any]:
    """Writes what is no message, a log line, and an empty line."""
    send({"method": "notifications/message", "params": {"level": "info", "data": "at work"}})
    with OUT:
        sys.stdout.write("\nno message\n")
        sys.stdout.flush()
    return text("said")


def grow(call: Call) -> dict[str, Any]:
    said = settings()
    new = {"name": "new", "description": "New.", "inputSchema": {"type": "object"}}
    said["tools"].append(new)
    SETTINGS.write_text(json.dumps(said))
    send({"method": "notifications/tools/list_changed"})
    return text("grown")


def sign_in(call: Call) -> dict[str, Any]:
    """Refuses the first call of each text, until a person has been at an address."""
    what = call.args["text"]
    if what in SEEN:
        return text(f"welcome, {what}")
    SEEN.add(what)
    where = {"mode": "url", "message": "sign in", "url": "https://example.org/in"}
    data: dict[str, Any] = {"elicitations": [{**where, "elicitationId": "1"}]}
    data = {"Ada": data, "Eve": {"elicitations": 7}}.get(what, {})
    raise ValueError("somebody must sign in", -32042, data)


SEEN: set[str] = set()
PNG = "iVBORw0KGgo="
BLOCKS = [
    {"type": "image", "mimeType": "image/png", "data": PNG},
    {"type": "audio", "mimeType": "audio/wav", "data": "UklGRgAAAABXQVZFZm10IA=="},
    {"type": "resource_link", "uri": "file:///a", "name": "a"},
    {"type": "resource", "resource": {"uri": "file:///b", "text": "B"}},
    {"type": "resource", "resource": {"uri": "file:///c", "blob": "aGVsbG8="}},
    {
        "type": "resource",
        "resource": {
            "uri": "file:///a/bill.pdf",
            "mimeType": "application/pdf",
            "blob": "JVBERi0xLjQgYSBiaWxs",
        },
    },
    {"type": "resource", "resource": {"uri": "x:d", "mimeType": "image/png", "blob": PNG}},
]
LIES = [
    {"type": "text", "text": "Booked."},
    {"type": "image", "mimeType": "image/gif", "data": PNG},
]
TOOLS: dict[str, Callable[[Call], dict[str, Any]]] = {
    "echo": lambda call: text(call.args.get("text", "")),
    "sum": total,
    "unfit": lambda call: text("x", structuredContent={"total": "no number"}),
    "fail": lambda call: text("it went wrong", isError=True),
    "die": lambda call: os._exit(3),
    "huge": lambda call: text("x" * 40_000_000),
    "never": never,
    "slow": slow,
    "hasty": hasty,
    "mute": mute,
    "drop": lambda call: os.abort(),
    "order": lambda call: text(f"ordered {json.dumps(elicit())}"),
    "noise": noise,
    "visit": visit,
    "think": think,
    "where": lambda call: text(json.dumps(ask("roots/list", {}))),
    "grow": grow,
    "sign_in": sign_in,
    "garbled": lambda call: {"contents": []},
    "picture": lambda call: {"content": BLOCKS},
    "lie": lambda call: {"content": LIES},
    "pid": lambda call: text(str(os.getpid())),
    "env": lambda call: text(json.dumps(dict(os.environ))),
}


def call(message: dict[str, Any]) -> None:
    params, number = message["params"], message["id"]
    name, args = params["name"], params.get("arguments") or {}
    token = params.get("_meta", {}).get("progressToken")
    log(f"{name} {json.dumps(args)}")
    try:
        if "task" in params:
            send({"id": number, "result": {"task": begin_task(name, args)}})
            return
        if name == "build":
            raise ValueError("build must be a task")
        result = TOOLS[name](Call(args, number, token))
    except KeyError:
        send({"id": number, "error": {"code": -32602, "message": f"no tool {name}"}})
    except ValueError as error:
        code, *data = error.args[1:] or (-32603,)
        said = {"code": code, "message": error.args[0]}
        send({"id": number, "error": {**said, "data": data[0]} if data else said})
    else:
        if number not in CANCELLED:
            send({"id": number, "result": result})


def begin_task(name: str, args: dict[str, Any]) -> dict[str, Any]:
    """A task that is done once the file `go` is there; it is asked for with `tasks/result`."""
    number = f"task-{uuid.uuid4().hex[:8]}"
    (SETTINGS.parent / number).write_text(json.dumps({"name": name, "args": args}))
    return {
        "taskId": number, "status": "working", "ttl": None, "createdAt": "2026-01-01T00:00:00Z",
        "lastUpdatedAt": "2026-01-01T00:00:00Z",
    }  # fmt: skip


def task_result(message: dict[str, Any]) -> None:
    number = message["params"]["taskId"]
    place = SETTINGS.parent / number
    log(f"asked for {number}")
    if not place.exists():
        send({"id": message["id"], "error": {"code": -32602, "message": f"no task {number}"}})
        return
    while not (SETTINGS.parent / "go").exists():
        time.sleep(0.005)
    name = json.loads(place.read_text())["name"]
    if name == "build" and settings().get("builds_badly"):
        send({"id": message["id"], "result": text("it fell over", isError=True)})
        return
    if name == "order":
        answer = elicit()
        send({"id": message["id"], "result": text(f"ordered {json.dumps(answer)}")})
        return
    send({"id": message["id"], "result": text(f"built {place.read_text()}")})


def initialize(message: dict[str, Any]) -> None:
    said = settings()
    match said.get("handshake"):
        case "die":
            sys.stderr.write("I cannot go on\n")
            sys.stderr.flush()
            os._exit(7)
        case "silent":
            return
        case "huge":
            sys.stdout.write("x" * 100_000_000)
            sys.stdout.flush()
    version = said.get("protocol") or message["params"]["protocolVersion"]
    send({"id": message["id"], "result": {
        "protocolVersion": version,
        "capabilities": said.get("capabilities", {
            "tools": {"listChanged": True}, "resources": {}, "prompts": {},
            "tasks": {"requests": {"tools": {"call": {}}}}}),
        "serverInfo": {"name": said.get("name", "plain"), "version": said.get("version", "1")},
        "instructions": said.get("instructions", ""),
    }})  # fmt: skip


RESULTS: dict[str, Any] = {
    "ping": {},
    "resources/list": {"resources": [{"uri": "file:///a", "name": "a", "description": "An a."}]},
    "resources/templates/list": {
        "resourceTemplates": [{"uriTemplate": "file:///{name}", "name": "any"}]
    },
    "resources/read": {"contents": [{"uri": "file:///a", "mimeType": "text/plain", "text": "AAA"}]},
    "prompts/list": {"prompts": [{"name": "greet", "arguments": [{"name": "who"}]}]},
    "prompts/get": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "Greet Ada."}}]
    },
}


BROKEN: dict[str, Any] = {
    "resources/read": {"contents": [
        {"uri": "file:///a", "text": "AAA"},
        {"uri": "file:///broken", "mimeType": "image/png", "blob": "no base64!"},
    ]},
    "prompts/get": {"messages": [
        {"role": "user", "content": {"type": "image", "mimeType": "image/png", "data": "?"}},
    ]},
}  # fmt: skip


def tools_page(message: dict[str, Any]) -> dict[str, Any]:
    """Two tools a page unless it is told otherwise, so that paging is done in every test."""
    said = settings()
    known, size = said["tools"], said.get("page", 2)
    start = int((message.get("params") or {}).get("cursor") or 0)
    page: dict[str, Any] = {"tools": known[start : start + size]}
    return {**page, "nextCursor": str(start + size)} if start + size < len(known) else page


def tools_list(message: dict[str, Any]) -> None:
    said = settings()
    if said.get("restless"):
        send({"method": "notifications/tools/list_changed"})
    if (place := said.get("no_list")) and Path(place).exists():
        Path(place).unlink()
        send({"id": message["id"], "error": {"code": -32603, "message": "not now"}})
        return
    if "cursor" not in (message.get("params") or {}):
        (SETTINGS.parent / "lists").open("a").write("x")
    send({"id": message["id"], "result": tools_page(message)})


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        method = message.get("method")
        if method is None:
            ANSWERS[message["id"]] = message.get("result", message.get("error"))
        elif method == "notifications/cancelled":
            CANCELLED.add(message["params"]["requestId"])
            log("cancelled")
        elif method == "initialize":
            initialize(message)
        elif method == "tools/list":
            tools_list(message)
        elif method == "tools/call" and message["params"]["name"] == "deaf":
            log("deaf {}")
            os.close(0)
            send({"id": message["id"], "result": text("pardon?")})
            threading.Event().wait()
        elif method == "tools/call":
            threading.Thread(target=call, args=(message,), daemon=True).start()
        elif method == "tasks/result":
            threading.Thread(target=task_result, args=(message,), daemon=True).start()
        elif method in RESULTS:
            more = settings().get("paged") and not (message.get("params") or {}).get("cursor")
            result = {**RESULTS[method], "nextCursor": "2"} if more else RESULTS[method]
            if "broken" in str(message.get("params")):
                result = BROKEN[method]
            send({"id": message["id"], "result": result})
        elif "id" in message and settings().get("handshake") != "silent":
            send({"id": message["id"], "error": {"code": -32601, "message": "unknown method"}})


if __name__ == "__main__":
    main()
