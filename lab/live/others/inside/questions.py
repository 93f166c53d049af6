"""What the programs of all systems share: questions come as lines, answers go as lines.

Standard library only: it runs in environments that have neither clew nor anything of it.
"""

import json
import os
import sys
import urllib.request
from collections.abc import Callable
from typing import Any

ASK = "Use the tools to find the answer. If it cannot be found, say so."
"""What each system is told, in the place that it has for that."""


def caller(address: str, name: str) -> Callable[..., str]:
    """A function that calls a tool where all systems call it."""

    def call(**args: Any) -> str:
        body = json.dumps({"tool": name, "args": args}).encode()
        request = urllib.request.Request(f"{address}/tool", body, method="POST")
        with urllib.request.urlopen(request, timeout=120) as results:
            return str(results.read().decode())

    return call


def serve(answer: Callable[[dict[str, Any]], str | None]) -> None:
    """Answer each question that comes: `answer` gives None where the steps did not suffice."""
    out, sys.stdout = os.fdopen(os.dup(1), "w"), sys.stderr
    for line in sys.stdin:
        asked = json.loads(line)
        fields: dict[str, Any] = {"status": "answered", "reason": ""}
        try:
            fields["answer"] = answer(asked)
        except Exception as error:  # noqa: BLE001 -- whatever a system raises is what it came to
            fields["answer"], fields["status"] = None, "failed"
            fields["reason"] = f"{type(error).__name__}: {error}"[:300]
        out.write(json.dumps(fields) + "\n")
        out.flush()
