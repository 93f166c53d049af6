"""What stands in the table of routes: an endpoint, with what it takes, and who may ask for it."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias, TypeVar
from urllib.parse import parse_qsl

import msgspec
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.routing import compile_path

from clew_serve.access.roles import Role
from clew_serve.access.users import User
from clew_serve.errors import FailureForm, Problem, RefusedError
from clew_serve.responses import JSON, json_response
from clew_serve.service import Service

Method: TypeAlias = Literal["GET", "POST", "PUT", "DELETE"]
FORM: Final = "application/x-www-form-urlencoded"
MAX_FIELDS: Final = 100
"""So many fields a query or a form may have."""
Position: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]
"""A number of an entry, or of a step; no store and no browser counts further."""
B = TypeVar("B", bound=msgspec.Struct)
Q = TypeVar("Q", bound=msgspec.Struct)


@dataclass(frozen=True)
class Inquiry:
    """A request that was let in, with what a handler needs: nothing else of it is looked at.

    `path` has the parameters of the path, and `query` and `content` are of the classes that the
    endpoint takes. `reviewed` is the run of another user that the gate lets a reviewer see.
    """

    service: Service
    user: User
    headers: Headers
    path: Mapping[str, str] = field(default_factory=dict[str, str])
    query: Any = None
    content: Any = None
    reviewed: str = ""

    def owner_for(self, run_id: str) -> str | None:
        """Whose this run has to be for the user to see it; None for anybody's."""
        return None if run_id == self.reviewed else self.user.owner


Handler: TypeAlias = Callable[[Inquiry], Awaitable[Any]]
"""Answers a request: with a response, or with a value that JSON can carry."""


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """One route: an endpoint without a `role` is refused, whoever asks.

    `takes` is the class of the body: JSON, or with `form` what a page's form sends. `query` is
    that of the parameters behind the `?`, and `gives` what the answer is: a class, or a media type.
    `about` says it in a line, and `fails` is the class of what a failure is answered with. With
    `reviews` a reviewer may ask it of another's run, while that waits for a decision.
    """

    method: Method
    path: str
    role: Role | None
    handler: Handler
    about: str
    takes: type[msgspec.Struct] | None = None
    form: bool = False
    query: type[msgspec.Struct] | None = None
    gives: Any = None
    status: int = 200
    fails: type[msgspec.Struct] = Problem
    reviews: bool = False

    @property
    def changes(self) -> bool:
        """Whether it changes anything: a server that only shows refuses it."""
        return self.method != "GET"


class Match(NamedTuple):
    """The endpoint of a request, with the parameters of its path; or the methods that there are."""

    endpoint: Endpoint | None
    parameters: Mapping[str, str] = {}
    allowed: tuple[str, ...] = ()


_NOTHING: Final = Match(None)


class RouteTable:
    """The endpoints, in the order in which paths are compared with them.

    `forms` are those of failures, by the beginning of a path, whatever there is behind it. Raises
    `ValueError` where two have one method and path.
    """

    def __init__(
        self, endpoints: Iterable[Endpoint], forms: Mapping[str, FailureForm] | None = None
    ) -> None:
        self.endpoints = tuple(endpoints)
        self._forms = dict(forms or {})
        names = [(each.method, each.path) for each in self.endpoints]
        if len({*names}) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"the table has {' '.join(twice)} twice")
        self._patterns = [(compile_path(each.path)[0], each) for each in self.endpoints]

    def failure_form(self, path: str) -> FailureForm | None:
        """The form in which a failure is told at a path; None for the usual one."""
        return next((form for start, form in self._forms.items() if path.startswith(start)), None)

    def find(self, method: str, path: str) -> Match:
        """The endpoint for a request; HEAD is answered as GET, without the body."""
        method = "GET" if method == "HEAD" else method
        if (
            not path.isprintable()
        ):  # no run and no call has such an id, and not every store takes it
            return _NOTHING
        allowed: list[str] = []
        for pattern, endpoint in self._patterns:
            if (match := pattern.match(path)) is None:
                continue
            if endpoint.method == method:
                return Match(endpoint, match.groupdict())
            allowed.append(endpoint.method)
        return Match(None, {}, tuple(sorted({*allowed}))) if allowed else _NOTHING


def body_of(kind: type[B], body: bytes, media_type: str, *, form: bool = False) -> B:
    """The body as a value of this class. Raises `RefusedError` for what is none."""
    media_type = media_type.partition(";")[0].strip().lower()
    if form and media_type == FORM:
        return query_of(kind, pairs_of(body), "form")
    if media_type != JSON:
        message = f"the body is sent as {media_type[:64]!r}, which is not JSON"
        if not media_type:
            message = "the request has no content type"
        raise RefusedError(415, "not_json", message, f"send it with content-type: {JSON}")
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _invalid("body", error, kind) from error


def pairs_of(raw: bytes) -> list[tuple[str, str]]:
    """The names and values of a query, or of what a form sends. Raises `RefusedError`."""
    try:
        return parse_qsl(raw.decode("latin-1"), keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError as error:
        raise RefusedError(422, "invalid", f"there are more than {MAX_FIELDS} fields") from error


def query_of(kind: type[Q], pairs: Iterable[tuple[str, str]], what: str = "query") -> Q:
    """The parameters behind the `?`, or of a form, as a value of this class, lists by repetition.

    Raises `RefusedError` for what is none, and for names that it has not.
    """
    fields = {each.name: each.type for each in msgspec.structs.fields(kind)}
    values: dict[str, Any] = {}
    for name, value in pairs:
        if "\0" in value:  # which not every store takes
            raise RefusedError(422, "invalid", f"the {what} has a NUL in {name[:64]!r}")
        if name in fields and getattr(fields[name], "__origin__", None) is list:
            values.setdefault(name, []).append(value)
        elif name in values:
            raise RefusedError(422, "invalid", f"the {what} has {name} twice")
        else:
            values[name] = value
    try:
        return msgspec.convert(values, kind, strict=False)
    except (msgspec.ValidationError, ValueError) as error:
        raise _invalid(what, error, kind) from error


def _invalid(what: str, error: Exception, kind: type[msgspec.Struct]) -> RefusedError:
    hint = "GET /api/openapi.json says what a request takes"
    message = f"the {what}: {' '.join(str(error).split())}"
    if (
        "unknown field" in message and " - at `" not in message
    ):  # of this class, and of no inner one
        message += f"; it takes {', '.join(kind.__struct_encode_fields__) or 'none'}"
    return RefusedError(422, "invalid", message, hint)


def reply(answer: Any, endpoint: Endpoint) -> Response:
    """The response of a handler's answer."""
    if isinstance(answer, Response):
        return answer
    return json_response(answer, endpoint.status)
