"""The page of a prompt: what was sent for a step, message by message, and what was left out."""

from dataclasses import replace
from typing import Annotated, Final

import msgspec
from markupsafe import Markup
from starlette.responses import HTMLResponse

from clew_serve.api import prompts
from clew_serve.endpoints import Endpoint, Inquiry, Position
from clew_serve.pages.rendering import fragment, page

SCREEN: Final = 60
"""So many messages of a prompt are on a page."""


class PageQuery(msgspec.Struct):
    """A step, and how many messages of its prompt come before those of the page."""

    step: Annotated[int, msgspec.Meta(ge=1)] | None = None
    after: Position = 0


async def show(inquiry: Inquiry) -> HTMLResponse:
    """The prompt of a step."""
    query: PageQuery = inquiry.query
    sent = await prompts.get(replace(inquiry, query=prompts.PromptQuery(query.step)))
    return page(
        inquiry, "prompt.html", run_id=sent.run_id, step=sent.step, steps=sent.steps,
        drawn=drawn_prompt(sent, query.after),
    )  # fmt: skip


def drawn_prompt(sent: prompts.SentPrompt, after: int = 0) -> Markup:
    """A prompt as HTML: a screen of its messages, behind the first `after`."""
    messages = sent.messages[after : after + SCREEN]
    return fragment(
        "prompt_content.html", sent=sent, after=after, messages=messages,
        left=max(0, len(sent.messages) - after - len(messages)),
    )  # fmt: skip


PROMPT: Final = Endpoint(
    method="GET", path="/runs/{run:path}/prompt", role="look", handler=show, query=PageQuery,
    gives="text/html", about="The page of the prompt of a step.",
)  # fmt: skip
