"""Official clients of one make (OpenAI's and Anthropic's) as carriers, through their own `post`."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2

from clew.models.http.endpoint import Incoming, LostError, SilentError, StatusError
from clew.models.http.failures import FailureSource, read_trouble
from clew.models.http.stream import complete_body
from clew.support.errors import ModelError


@dataclass(frozen=True)
class Errors:
    """How a client names what went wrong: an HTTP status, no answer in time, no connection, other.

    They are looked at in this order, since one may be a kind of another.
    """

    status: type[Exception]
    silent: type[Exception]
    lost: type[Exception]
    other: type[Exception]


@dataclass(frozen=True)
class Posting:
    """A carrier over a client.

    `root` stands before every path: an address, where the client need not work it out for each
    request. `options` are the client's own of every request. `answered` says that the client is
    somebody else's to close.
    """

    client: Any
    errors: Errors
    source: FailureSource
    root: str = ""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    answered: bool = False

    async def send(self, path: str, content: bytes) -> bytes:
        """Send a request and read the whole reply. Raises `OversizeError`."""
        return await complete_body(await self._post(path, content))

    async def stream(self, path: str, content: bytes) -> Incoming:
        """Send a request and hand the reply over unread."""
        return await self._post(path, content)

    async def get(self, path: str) -> httpx2.Response:
        """The response to a request without a body, unread."""
        with self._translate_errors():
            response: httpx2.Response = await self.client.get(
                self.root + path, cast_to=httpx2.Response, stream=True, options=self._once
            )
        return response

    async def upload(
        self, path: str, fields: Mapping[str, str], name: str, content: bytes
    ) -> httpx2.Response:
        """Send a form with a file of this name; the response unread."""
        headers = {**self._once.get("headers", {}), "Content-Type": "multipart/form-data"}
        with self._translate_errors():
            response: httpx2.Response = await self.client.post(
                self.root + path,
                body=fields,
                files=[("file", (name, content, "application/jsonl"))],
                cast_to=httpx2.Response,
                stream=True,
                options={**self._once, "headers": headers},
            )
        return response

    async def _post(self, path: str, content: bytes) -> httpx2.Response:
        """The response unread: the client makes nothing of it, not even a stream of its own."""
        with self._translate_errors():
            response: httpx2.Response = await self.client.post(
                self.root + path,
                content=content,
                cast_to=httpx2.Response,
                stream=True,
                options=self._once,
            )
        return response

    async def close(self) -> None:
        """Close the client, if it was made here."""
        if not self.answered:
            await self.client.close()

    @property
    def _once(self) -> dict[str, Any]:
        """Options of a request that the client makes once: `retry.persist` makes it again.

        The client would make a key for requests that are the same, and tell nobody.
        """
        return {"max_retries": 0, "idempotency_key": "", **self.options}

    @contextmanager
    def _translate_errors(self) -> Generator[None]:
        """Tell the client's errors in our own words."""
        try:
            yield
        except self.errors.status as error:
            status: Any = error
            trouble = read_trouble(status.status_code, _complete_body(status))
            raise StatusError(trouble, status.response.headers) from error
        except self.errors.silent as error:
            raise SilentError from error
        except self.errors.lost as error:
            raise LostError(repr(error)) from (error.__cause__ or error)
        except self.errors.other as error:
            raise ModelError(f"{self.source.name}: {self.source.tell(error)}") from error


def _complete_body(status: Any) -> object:
    """The body of an error as it came: the client's own leaves out what is beside `error`."""
    return status.response.text or status.body
