"""Replies that a harness refused and had made again, as it printed them in its complaint."""

import re
from typing import Final

from clew.core.contents import RawCall, Reply

_CONTENT: Final = re.compile(
    r"^content: ?(.*?)(?=^(?:ToolCalls$|cost: ))", re.DOTALL | re.MULTILINE
)
_CALL: Final = re.compile(
    r"^id: (?P<id>[^\n]*)\nname: (?P<name>[^\n]*)\n"
    r"arguments:\n(?P<args>.*?)(?=\n(?:ToolCall |cost: ))",
    re.DOTALL | re.MULTILINE,
)


def printed(complaint: str) -> Reply:
    """The reply that stands in a complaint."""
    content = _CONTENT.search(complaint)
    calls = [
        RawCall(name=m["name"].strip(), arguments=m["args"].strip(), id=m["id"].strip())
        for m in _CALL.finditer(complaint)
    ]
    return Reply(text=content[1].strip() if content else "", calls=tuple(calls))
