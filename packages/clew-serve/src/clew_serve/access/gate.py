"""The one gate before all routes: from where, who, what; and only then is anything done.

Nobody learns without a token which paths there are: what is refused here is refused for every path
alike. A request of another host or origin is refused first (403), then one without a token (401),
then a path that there is not (404), and then what the user's role may not (403).
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from clew_serve.access.origins import Origins
from clew_serve.access.reviews import reviewed_run
from clew_serve.access.roles import may
from clew_serve.access.sign_in import token_of, unknown_user, welcome
from clew_serve.access.users import User, Users
from clew_serve.bodies import check_declared, read_body
from clew_serve.endpoints import Endpoint, Inquiry, RouteTable, body_of, pairs_of, query_of, reply
from clew_serve.errors import RefusedError, answer_to
from clew_serve.pages.failures import failure_page
from clew_serve.service import Service

_HEADERS: Final = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
"""What every response says unless it says otherwise."""

_PREFLIGHT: Final = {
    "access-control-allow-headers": "authorization, content-type, last-event-id",
    "access-control-allow-methods": "GET, POST, PUT, DELETE",
    "access-control-max-age": "600",
}
"""What a browser asks before a page of a further origin may send a request: it has no token yet."""


@dataclass(frozen=True)
class Gate:
    """The application: it lets a request through to its endpoint, or says why not."""

    service: Service
    table: RouteTable
    users: Users
    origins: Origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await WebSocketClose()(scope, receive, send)
            return
        headers = Headers(scope=scope)
        answering = _with_headers(send, self.origins.shared_with(headers))
        with self.service.counts.request() as count:
            try:
                response = await self._answer(scope, headers, receive)
            except ClientDisconnect:
                return
            except Exception as error:  # noqa: BLE001 - each becomes an answer
                form = self.table.failure_form(str(scope["path"]))
                if form is None and "text/html" in headers.get("accept", ""):
                    form = failure_page
                response = answer_to(error, form)
            count(response.status_code)
            await response(scope, receive, answering)

    async def _answer(self, scope: Scope, headers: Headers, receive: Receive) -> Response:
        method, path = str(scope["method"]), str(scope["path"])
        self._check_origin(headers)
        if method == "OPTIONS" and self.origins.shared_with(headers):
            return Response(status_code=204, headers=_PREFLIGHT)
        if self.service.is_open(path):
            user = User()
        else:
            media_type, patience = headers.get("content-type", ""), self.service.config.patience
            token = await token_of(scope, receive, media_type, patience)
            if token is not None and (signed := self._sign_in(scope, headers, token)) is not None:
                return signed
            user = self._user(method, headers, token or "")
        endpoint, parameters = self._endpoint(method, path, user)
        config = self.service.config
        query = body = None
        if endpoint.query is not None:
            query = query_of(endpoint.query, _pairs(scope))
        if endpoint.takes is not None:
            check_declared(headers, config.max_body)
            raw = await read_body(receive, config.max_body, config.patience)
            media_type = headers.get("content-type", "")
            body = body_of(endpoint.takes, raw, media_type, form=endpoint.form)
        inquiry = Inquiry(self.service, user, headers, parameters, query, body)
        if endpoint.reviews and user.reviews:
            inquiry = replace(inquiry, reviewed=await reviewed_run(inquiry))
        return reply(await endpoint.handler(inquiry), endpoint)

    def _check_origin(self, headers: Headers) -> None:
        if not self.origins.knows_host(headers):
            raise RefusedError(
                403, "foreign_host", "this server has no such name",
                "the server is told of a further name by --allow-host",
            )  # fmt: skip
        if not self.origins.may_send(headers):
            raise RefusedError(
                403, "foreign_origin", "another site may not ask this server",
                "the server is told of a further origin by --allow-origin",
            )  # fmt: skip

    def _user(self, method: str, headers: Headers, token: str) -> User:
        """Who asks. Raises `RefusedError` where nobody who is known does."""
        user, wrong = None, bool(token)
        if "authorization" in headers:
            user = self.users.by_header(headers)
            wrong = wrong or self.users.has_wrong_token(headers)
        elif (user := self.users.by_cookie(headers)) is not None:
            self._check_proven(method, headers)
        if user is None:
            raise unknown_user(wrong=wrong)
        return user

    def _check_proven(self, method: str, headers: Headers) -> None:
        if not self.origins.is_proven(method, headers):
            raise RefusedError(
                403, "foreign_origin", "the request does not say which page sends it",
                "a program sends authorization: Bearer TOKEN instead of a cookie",
            )  # fmt: skip

    def _endpoint(self, method: str, path: str, user: User) -> tuple[Endpoint, dict[str, str]]:
        """The endpoint, if this user may ask for it. Raises `RefusedError`."""
        match = self.table.find(method, path)
        if (endpoint := match.endpoint) is None:
            if match.allowed:
                allowed = ", ".join(match.allowed)
                raise RefusedError(
                    405, "wrong_method", f"this path has {allowed}", headers={"allow": allowed}
                )
            raise RefusedError(
                404, "no_such_path", "there is nothing at this path",
                "GET /api/openapi.json lists what there is",
            )  # fmt: skip
        if endpoint.role is None:
            raise RefusedError(403, "refused", "nobody may ask for this")
        if self.service.config.read_only and endpoint.changes:
            raise RefusedError(403, "read_only", "this server only shows runs")
        if not may(user.role, endpoint.role):
            raise RefusedError(
                403, "role", f"this needs the role {endpoint.role}, and yours is {user.role}"
            )
        return endpoint, dict(match.parameters)

    def _sign_in(self, scope: Scope, headers: Headers, token: str) -> Response | None:
        """The answer to a browser that signs in with a token; None where nobody has that."""
        self._check_proven(str(scope["method"]), headers)
        if (user := self.users.by_token(token)) is None:
            return None
        secure = scope.get("scheme") == "https" or self.service.config.secure_cookie
        return welcome(self.users.cookie, self.users.cookie_of(user), secure=secure)


def _pairs(scope: Scope) -> list[tuple[str, str]]:
    return pairs_of(scope.get("query_string", b""))


def _with_headers(send: Send, origin: str) -> Callable[[Message], Awaitable[None]]:
    """Sends, with the headers that every response has; pages of that further origin may read it."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            if origin:
                headers["access-control-allow-origin"] = origin
                headers["cross-origin-resource-policy"] = "cross-origin"
                headers.add_vary_header("origin")
        await send(message)

    return sending
