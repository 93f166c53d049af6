"""What is no message of JSON-RPC 2.0, or asks for what there is not, is answered as that says."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.editors.editor import command, environment
from tests.patience import PATIENCE

pytestmark = pytest.mark.slow

PARSE, REQUEST, METHOD, PARAMS, MISSING = -32700, -32600, -32601, -32602, -32002
NEW = {"cwd": "/", "mcpServers": []}


def request(number: object, method: object, params: Any = None, **more: Any) -> str:
    return json.dumps(
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}, **more}
    )


LINES: list[tuple[str, object, int]] = [
    ("{", None, PARSE),
    ("\xff\xfe", None, PARSE),
    ("[" * 100_000, None, PARSE),
    ("[]", None, REQUEST),
    ('"words"', None, REQUEST),
    ('{"id": 1, "method": "initialize"}', 1, REQUEST),
    ('{"jsonrpc": "2.0", "id": {}, "method": "initialize"}', None, REQUEST),
    ('{"jsonrpc": "2.0", "id": 2, "method": 3}', 2, REQUEST),
    ('{"jsonrpc": "2.0", "id": 3, "method": "initialize", "params": [1]}', 3, REQUEST),
    ('{"jsonrpc": "2.0", "id": 4}', 4, REQUEST),
    ('{"jsonrpc": "2.0", "id": NaN, "method": "initialize"}', None, PARSE),
    ('{"jsonrpc": "2.0", "id": 1e999, "method": "initialize"}', None, REQUEST),
    (request(5, "session/dance"), 5, METHOD),
    (request(6, "authenticate", {"methodId": "x"}), 6, METHOD),
    (request(7, "session/new", {"mcpServers": []}), 7, PARAMS),
    (request(8, "session/prompt", {"sessionId": "none", "prompt": []}), 8, PARAMS),
    (request(9, "session/new", {**NEW, "cwd": "relative"}), 9, PARAMS),
    (request(10, "session/load", {**NEW, "sessionId": "none"}), 10, MISSING),
    (request(11, "session/load", {**NEW, "sessionId": "../\x00"}), 11, MISSING),
    (request(12, "session/list", {"cursor": "x"}), 12, PARAMS),
    (request("13", "_own/extension"), "13", METHOD),
]
"""Lines, and the id and the code of the error that answers each."""

PARAMETERS: list[dict[str, Any]] = [
    {}, {"params": {}}, {"params": {"sessionId": 1}}, {"params": {"sessionId": "no"}}
]  # fmt: skip
NOTIFICATIONS = [
    json.dumps({"jsonrpc": "2.0", "method": method, **parameters})
    for method in ("session/cancel", "session/dance", "$/cancel_request", "_own/news")
    for parameters in PARAMETERS
]
"""Nobody may answer these."""


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_bad_lines_are_answered_and_good_ones_after_them(tmp_path: Path) -> None:
    meta = {"_meta": {"protocol_version": "taken for an argument", "self": 1}}
    good = request(99, "initialize", {"protocolVersion": 7, **meta})
    nobody = '{"jsonrpc": "2.0", "id": 1000, "result": {}}'  # answers what was not asked
    lines = [*(line for line, _, _ in LINES), "", nobody, *NOTIFICATIONS, good]
    answers = await answered(tmp_path, "\n".join(lines).encode("latin-1") + b"\n", len(LINES) + 1)
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    refused = [(str(it["id"]), it["error"]["code"]) for it in answers if "error" in it]
    assert sorted(refused) == sorted((str(number), code) for _, number, code in LINES)
    (greeted,) = [answer for answer in answers if "result" in answer]
    assert (greeted["id"], greeted["result"]["protocolVersion"]) == (99, 1)
    assert all("\n" not in it["error"]["message"] for it in answers if "error" in it)
    told = (tmp_path / "stderr").read_text().splitlines()
    assert told
    assert [line for line in told if not line.startswith("clew: a notification")] == []


async def answered(folder: Path, lines: bytes, count: int) -> list[dict[str, Any]]:
    """So many answers to lines; then the process ends, since nobody asks any more."""
    text = ""
    with (folder / "stderr").open("wb") as errors:
        process = await anyio.open_process(
            command("telling", folder), env=environment(folder), stderr=errors
        )
    async with process:
        assert process.stdin is not None
        assert process.stdout is not None
        with anyio.fail_after(PATIENCE):
            await process.stdin.send(lines)
            while text.count("\n") < count:
                text += (await process.stdout.receive()).decode()
            await process.stdin.aclose()
            assert await process.wait() == 0
    return [json.loads(line, parse_constant=pytest.fail) for line in text.splitlines()]
