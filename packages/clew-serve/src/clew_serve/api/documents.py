"""What the API is, made of the table: an OpenAPI document, and a page of it."""

import re
from collections.abc import Iterable
from typing import Any, Final

import msgspec
from starlette.responses import HTMLResponse, Response

from clew_serve.endpoints import Endpoint, Inquiry
from clew_serve.pages.rendering import page
from clew_serve.responses import json_response

VERSION: Final = "1"
"""Of the API: raised where something is taken out of it, or means something else."""

_REFERENCE: Final = "#/components/schemas/{name}"
_STATUSES: Final = (
    "400",
    "401",
    "403",
    "404",
    "405",
    "408",
    "409",
    "413",
    "415",
    "422",
    "500",
    "502",
    "503",
)


def endpoints(known: Iterable[Endpoint]) -> tuple[Endpoint, Endpoint]:
    """The endpoints that say what the `known` ones are, and they themselves."""
    described = list(known)

    async def openapi(inquiry: Inquiry) -> Response:
        del inquiry
        return json_response(document(described))

    async def show(inquiry: Inquiry) -> HTMLResponse:
        return page(inquiry, "api.html", endpoints=described)

    both = (
        Endpoint(
            method="GET", path="/api/openapi.json", role="look", handler=openapi,
            gives=dict[str, Any], about="This API as an OpenAPI document.",
        ),
        Endpoint(
            method="GET", path="/api/docs", role="look", handler=show,
            gives="text/html", about="This API as a page.",
        ),
    )  # fmt: skip
    described += both
    return both


def document(known: Iterable[Endpoint]) -> dict[str, Any]:
    """The OpenAPI document of these endpoints."""
    known = tuple(known)
    classes = [(each.takes, each.gives, each.fails) for each in known]
    kinds = [kind for each in classes for kind in each if _is_schema(kind)]
    schemas, components = msgspec.json.schema_components(kinds, ref_template=_REFERENCE)
    by_kind = dict(zip(map(_key, kinds), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for each in known:
        path = each.path.replace(":path}", "}")
        paths.setdefault(path, {})[each.method.lower()] = _operation(each, by_kind)
    return {
        "openapi": "3.1.0",
        "info": {"title": "clew", "version": VERSION},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _operation(each: Endpoint, by_kind: dict[str, Any]) -> dict[str, Any]:
    problem = {"application/json": {"schema": by_kind[_key(each.fails)]}}
    answers: dict[str, Any] = {
        status: {"description": "what is wrong", "content": problem} for status in _STATUSES
    }
    schema = by_kind[_key(each.gives)] if _is_schema(each.gives) else {"type": "string"}
    media = "application/json" if _is_schema(each.gives) else str(each.gives)
    answers[str(each.status)] = {"description": each.about, "content": {media: {"schema": schema}}}
    operation: dict[str, Any] = {
        "summary": each.about,
        "description": f"Needs the role {each.role}.",
        "parameters": [*_path_parameters(each.path), *_query_parameters(each.query)],
        "responses": answers,
    }
    if each.takes is not None:
        content = {"application/json": {"schema": by_kind[_key(each.takes)]}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _path_parameters(path: str) -> list[dict[str, Any]]:
    names = re.findall(r"{(\w+)", path)
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in names
    ]


def _query_parameters(kind: type[msgspec.Struct] | None) -> list[dict[str, Any]]:
    if kind is None:
        return []
    (_,), components = msgspec.json.schema_components([kind])
    properties: dict[str, Any] = components[kind.__name__]["properties"]
    return [{"name": name, "in": "query", "schema": it} for name, it in properties.items()]


def _is_schema(kind: Any) -> bool:
    return kind is not None and not isinstance(kind, str)


def _key(kind: Any) -> str:
    return repr(kind)
