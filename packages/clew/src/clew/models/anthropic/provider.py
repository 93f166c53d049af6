"""Anthropic, before anything of it is loaded."""

from typing import Final

from clew.models.provider import Provider, bearer_request

_VERSION: Final = {"anthropic-version": "2023-06-01"}


def _list_request(variable: str, key: str) -> tuple[str, dict[str, str]]:
    bearer = variable.endswith("TOKEN")
    headers = bearer_request(variable, key)[1] if bearer else {"x-api-key": key}
    return "/v1/models?limit=1000", {**headers, **_VERSION}


ANTHROPIC: Final = Provider(
    "anthropic",
    "clew.models.anthropic.messages:anthropic_messages",
    "anthropic",
    "anthropic",
    "https://api.anthropic.com",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_API_KEY",
    "claude-sonnet-5-5",
    last="ANTHROPIC_AUTH_TOKEN",  # sent alike, and looked at later by Anthropic's own client
    rank=2,
    list_request=_list_request,
)
