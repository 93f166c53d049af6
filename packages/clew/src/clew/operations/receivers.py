"""Where notices go: to a URL, signed, or to a command."""

import base64
import hashlib
import hmac
import http.client
import os
import shlex
import ssl
import time
from dataclasses import dataclass, field
from subprocess import DEVNULL, PIPE
from tempfile import TemporaryFile
from typing import Final, Protocol
from urllib.parse import urlsplit

import anyio
import anyio.to_thread

from clew.support.addresses import hidden
from clew.support.errors import ConfigError

SECRET: Final = "CLEW_WEBHOOK_SECRET"  # noqa: S105 - the name of the variable
_PREFIX: Final = "whsec_"
_PATIENCE: Final = 15.0
"""Seconds that a receiver has."""


class Receiver(Protocol):
    """Takes notices."""

    async def deliver(self, notice_id: str, body: bytes) -> str:
        """Hand over a notice: "" once it was taken, else what is wrong, in a line."""
        ...


def receiver_of(target: str) -> Receiver:
    """The receiver of `--on-held CMD|URL`. Raises `ConfigError`."""
    if target.startswith(("http://", "https://")):
        return _webhook(target)
    try:
        words = shlex.split(target)
    except ValueError as error:
        message = f"the command {target!r} cannot be read ({error}): quote it as for a shell"
        raise ConfigError(message) from error
    if not words:
        raise ConfigError("there is neither a command nor an address to notify: give one")
    return Command(tuple(words))


def _webhook(url: str) -> "Webhook":
    parts = urlsplit(url)
    if not parts.hostname or parts.username or parts.password:
        message = f"{hidden(url)!r} is no address for notices: give one without user or password"
        raise ConfigError(message)
    secret = os.environ.get(SECRET, "")
    if not secret:
        message = f"notices are signed: set {SECRET} to a random text that the receiver has too"
        raise ConfigError(message)
    return Webhook(url, _key(secret))


def _key(secret: str) -> bytes:
    """The key in a secret: `whsec_` and base64, as in Standard Webhooks, or any other text."""
    if secret.startswith(_PREFIX):
        try:
            return base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
        except ValueError as error:
            message = f"{SECRET} begins with {_PREFIX} and is no base64 behind it"
            raise ConfigError(message) from error
    return secret.encode()


@dataclass(frozen=True, slots=True)
class Webhook:
    """A POST of JSON, signed as https://www.standardwebhooks.com says.

    The operator names the host, so it may be a private one; redirects are not followed. A status of
    2xx takes the notice.
    """

    url: str
    key: bytes = field(repr=False)

    async def deliver(self, notice_id: str, body: bytes) -> str:
        """Send it once."""
        return await anyio.to_thread.run_sync(self._post, notice_id, body, abandon_on_cancel=True)

    def _post(self, notice_id: str, body: bytes) -> str:
        parts = urlsplit(self.url)
        at = str(int(time.time()))
        signed = hmac.digest(self.key, f"{notice_id}.{at}.".encode() + body, hashlib.sha256)
        headers = {
            "content-type": "application/json",
            "user-agent": "clew",
            "webhook-id": notice_id,
            "webhook-timestamp": at,
            "webhook-signature": f"v1,{base64.b64encode(signed).decode()}",
        }
        host, path = parts.hostname or "", parts.path or "/"
        try:
            connection = _connection(parts.scheme, host, parts.port)
            try:
                asked = f"{path}?{parts.query}" if parts.query else path
                connection.request("POST", asked, body, headers)
                status = connection.getresponse().status
            finally:
                connection.close()
        except (OSError, ValueError, http.client.HTTPException) as error:
            return f"{host} did not take it ({error or type(error).__name__})"
        return "" if 200 <= status < 300 else f"{host} answered with status {status}"


def _connection(scheme: str, host: str, port: int | None) -> http.client.HTTPConnection:
    if scheme == "https":
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(host, port, timeout=_PATIENCE, context=context)
    return http.client.HTTPConnection(host, port, timeout=_PATIENCE)


@dataclass(frozen=True, slots=True)
class Command:
    """A command that reads the notice from stdin, and takes it by exit code 0 within `patience`
    seconds.
    """

    words: tuple[str, ...]
    patience: float = _PATIENCE

    async def deliver(self, notice_id: str, body: bytes) -> str:
        """Run it once."""
        environment = {**os.environ, "CLEW_NOTICE": notice_id}
        environment.pop(SECRET, None)
        try:
            with TemporaryFile() as stdin, anyio.fail_after(self.patience):
                stdin.write(body)  # a file: a pipe breaks where the command reads nothing
                stdin.seek(0)
                done = await anyio.run_process(
                    self.words, stdin=stdin, check=False, stdout=DEVNULL, stderr=PIPE,
                    env=environment,
                )  # fmt: skip
        except TimeoutError:
            return f"{self.words[0]} took more than {self.patience:g} s"
        except OSError as error:
            return f"{self.words[0]} cannot be run ({error.strerror or error})"
        if done.returncode == 0:
            return ""
        last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2][:200]
        return f"{self.words[0]} ended with {done.returncode}{f': {last}' if last else ''}"
