"""The tool `fetch_page`: the readable text of a page, in passages that can be cited."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

from anyio import to_thread
from protego import Protego

from clew import Evidence, Observation, Tool
from clew.guards import Labels
from clew.interfaces import Json
from clew.toolbox.docs.passages import Passage
from clew.tools import Attempts
from clew.tools.schema import checked
from clew_web.access_policy import PRODUCT, Reach, reach_of_environment, status_failure
from clew_web.errors import WebToolError
from clew_web.extract_text import KINDS, PageText, readable
from clew_web.request import Answer, WebRequest
from clew_web.results import doc_id
from clew_web.source import SLACK

MAX_PART_CHARS: Final = 4_000
"""Characters of a page that are shown at once, at least one passage."""

_DESCRIPTION: Final = (
    "Read a page of the web: its text in passages, each with a doc_id to cite as [doc_id]. A long "
    "page comes in parts: `next` is the offset to go on with. Find pages with a search tool first."
)


def fetch_page(reach: Reach | None = None) -> Tool:
    """The tool `fetch_page`. It obeys robots.txt, and reaches only public and allowed addresses."""
    out = reach or reach_of_environment()

    async def call(args: dict[str, Json], key: str) -> Any:
        answer = await out.ask(WebRequest(args["url"], types=KINDS), Robots(out).may_go)
        if trouble := status_failure(answer):
            raise trouble
        text = await to_thread.run_sync(partial(readable, answer), abandon_on_cancel=True)
        return _part(answer.url, text, args.get("offset", 0))

    return checked(
        Tool(
            name="fetch_page",
            description=_DESCRIPTION,
            parameters={
                "type": "object",
                "properties": {
                    "url": {
                        "type": "string",
                        "minLength": 1,
                        "description": "The address, as in a result: http(s)://…",
                    },
                    "offset": {
                        "type": "integer",
                        "minimum": 0,
                        "default": 0,
                        "description": "Where to go on, as `next` says",
                    },
                },
                "required": ["url"],
                "additionalProperties": False,
            },
            call=call,
            effect="read",
            attempts=Attempts(timeout=out.seconds + SLACK),
            trust="untrusted",
            labels=Labels(content=("offset",), egress=True),
            examples=({"url": "https://en.wikipedia.org/wiki/Skerryvore"},),
        )
    )


def _part(url: str, page: PageText, offset: int) -> Observation:
    """The passages from `offset` on, as many as are shown at once."""
    passages = page.passages
    if not passages:
        text = "no readable text on this page: try another page"
        raise WebToolError("not_readable", text)
    ahead = [one for one in passages if one.offset + len(one.text) > offset]
    if not ahead:
        last = passages[-1]
        text = f"the page ends at {last.offset + len(last.text)}: give a smaller offset"
        raise WebToolError("bad_query", text)
    visible = list(_first(ahead))
    ids = [doc_id("page", url, one.text) for one in visible]
    content: dict[str, Json] = {
        "url": url,
        "title": page.title,
        "results": [
            {
                "doc_id": name,
                "score": 1.0,
                "title": one.title,
                "snippet": one.text,
                "url": url,
                "offset": one.offset,
            }
            for name, one in zip(ids, visible, strict=True)
        ],
    }
    if page.note:
        content["note"] = page.note
    if len(visible) < len(ahead):
        content["next"] = ahead[len(visible)].offset
    return Observation(
        content=content,
        effect="read",
        trust="untrusted",
        evidence=tuple(
            Evidence(name, one.text, 1.0, url, one.offset)
            for name, one in zip(ids, visible, strict=True)
        ),
    )


def _first(passages: Sequence[Passage]) -> Iterator[Passage]:
    length = 0
    for one in passages:
        length += len(one.text)
        if length > MAX_PART_CHARS and one is not passages[0]:
            return
        yield one


class Robots:
    """The rules of the sites that one request comes by, each read once."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._rules: dict[str, Protego] = {}

    async def may_go(self, url: str) -> None:
        """Raise `WebToolError` where the site wants programs to stay away."""
        parts = urlsplit(url)
        site = f"{parts.scheme}://{parts.netloc}"
        if site not in self._rules:
            answer = await self._reach.ask(WebRequest(f"{site}/robots.txt", types=()))
            self._rules[site] = _rules(parts.netloc, answer)
        if not self._rules[site].can_fetch(url, PRODUCT):
            text = f"{parts.netloc} asks programs not to read this page: try another"
            raise WebToolError("robots", text)


def _rules(site: str, answer: Answer) -> Protego:
    """The rules. Where the site has none all may be read, and nothing while it fails."""
    if answer.status == 429 or answer.status >= 500:
        text = f"{site} cannot say now what programs may read: try another page, or later"
        raise WebToolError("robots", text)
    if not 200 <= answer.status < 300:
        return Protego.parse("")
    return Protego.parse(answer.body.decode("utf-8", "replace"))
