"""A server on 127.0.0.1 that speaks as Azure OpenAI does: OpenAI's formats at Azure's addresses.

Its current API lies at `/openai/v1`, with the deployment as the model. Requests of older versions
name the version in the query (`api-version`) and, but for Responses, the deployment in the path.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from clew_testing.servers.completions import Completions
from clew_testing.servers.http_server import (
    CompletionKind,
    Fail,
    HttpServer,
    ReceivedRequest,
    Script,
    Send,
    to_json,
)
from clew_testing.servers.openai_server import Chat
from clew_testing.servers.openai_service import Access
from clew_testing.servers.responses import Responses

_PATH: Final = re.compile(
    r"/openai(?:(?P<v1>/v1)|/deployments/(?P<deployment>[^/]+))?(?P<form>/.+)"
)


class AzureServer(HttpServer):
    """The server; `base_url` is that of the resource.

    Args:
        script: What to answer, as at `OpenAIServer`.
        key: Ask for this key, as `api-key` or as a bearer's.
        deployments: Names of deployments; others get 404.
    """

    def __init__(self, script: Script = (), *, key: str, deployments: Sequence[str]) -> None:
        access = Access()
        forms: dict[str, CompletionKind] = {
            "/chat/completions": Chat(access),
            "/responses": Responses(access),
            "/completions": Completions(access),
        }
        super().__init__(AzureService(forms, key, deployments), script)


@dataclass(frozen=True)
class AzureService:
    """The paths of a resource; keys and deployments are looked at before what was asked."""

    forms: Mapping[str, CompletionKind]
    key: str
    deployments: Sequence[str]
    root: str = ""
    stream_type: str = "text/event-stream; charset=utf-8"

    def find(self, seen: ReceivedRequest) -> CompletionKind | Send | Fail:
        bearer = seen.headers.get("authorization", "").removeprefix("Bearer ")
        if self.key not in {bearer, seen.headers.get("api-key")}:
            return Fail(
                401,
                "Access denied due to invalid subscription key or wrong API endpoint. Make sure to "
                "provide a valid key for an active subscription and use a correct regional API "
                "endpoint for your resource.",
                "401",
            )
        match = _PATH.fullmatch(seen.path)
        form = self.forms.get(match["form"]) if match is not None else None
        if match is None or form is None or bool(match["v1"]) == ("api-version" in seen.query):
            return Fail(404, "Resource not found", "404")
        asked: dict[str, Any] = seen.body or {}
        dated = not match["v1"] and match["form"] != "/responses"
        deployment = match["deployment"] if dated else asked.get("model")
        if deployment not in self.deployments:
            return Fail(
                404,
                "The API deployment for this resource does not exist. If you created the "
                "deployment within the last 5 minutes, please wait a moment and try again.",
                "DeploymentNotFound",
            )
        return form

    def error(self, fail: Fail) -> bytes:
        return to_json({"error": {"code": fail.code, "message": fail.message, "param": fail.param}})
