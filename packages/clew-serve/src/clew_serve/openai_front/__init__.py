"""OpenAI's API, whose models are the agents: any client of it can talk to one."""

from typing import Any, Final

from clew_serve.endpoints import Endpoint
from clew_serve.openai_front import chat, models, responses
from clew_serve.openai_front.chat_body import ChatBody
from clew_serve.openai_front.failures import Failure, failure
from clew_serve.openai_front.response_body import ResponseBody

OPENAI_PATHS: Final = "/v1/"
"""What its paths begin with."""

OPENAI: Final[tuple[Endpoint, ...]] = (
    Endpoint(
        method="GET", path="/v1/models", role="look", handler=models.get_all,
        fails=Failure, gives=models.ModelList,
        about="The agents, as OpenAI's models.",
    ),
    Endpoint(
        method="POST", path="/v1/chat/completions", role="run", handler=chat.complete,
        fails=Failure, takes=ChatBody, gives=dict[str, Any],
        about="Ask an agent as OpenAI's Chat Completions do.",
    ),
    Endpoint(
        method="POST", path="/v1/responses", role="run", handler=responses.create,
        fails=Failure, takes=ResponseBody, gives=dict[str, Any],
        about="Ask an agent as OpenAI's Responses do.",
    ),
    Endpoint(
        method="POST", path="/v1/responses/{run:path}/cancel", role="run", handler=responses.end,
        fails=Failure, gives=dict[str, Any],
        about="Ask the run of a response to stop.",
    ),
    Endpoint(
        method="GET", path="/v1/responses/{run:path}", role="look", handler=responses.get,
        fails=Failure, gives=dict[str, Any],
        about="A response as it is now.",
    ),
)  # fmt: skip

__all__ = ["OPENAI", "OPENAI_PATHS", "failure"]
