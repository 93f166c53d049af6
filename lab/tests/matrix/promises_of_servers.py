"""What the settings of MCP servers, and of the way to a model's server, promise."""

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from tests.matrix import far_server
from tests.matrix.model import Script
from tests.matrix.outcome import Outcome, every
from tests.matrix.promises import Add, only_reads, plans, promise, spread

MADE: Final = frozenset({"plain", "killed", "replayed", "held"})
"""Situations in which the tool of the server was called, for certain."""
ACTS: Final = "far_send"


def _server(*keys: str, lax: str = "", hangs: str = "", url: str = "", **table: Any) -> Add:
    """A promise of keys of the table of one server, called `far`."""
    reached: Mapping[str, Any] = {"url": url} if url else {
        "command": sys.executable,
        "args": [far_server.__file__, "<FOLDER>", *filter(None, [hangs])],
        "env": {"MATRIX_LEDGER": "<FOLDER>/ledger"},
    }  # fmt: skip
    return promise(
        *(f"mcp.{key}" for key in keys),
        values={"mcp": [{"name": "far", **reached, **table}]},
        script=Script(acts=ACTS),
        name=f"mcp.{keys[0]}",
        lax=lax,
        named=("mcp", ACTS),
        refusable=table.get("effects") is None,
        prepare=_folders,
    )


def _folders(folder: Path) -> None:
    (folder / "sub").mkdir()


def frames(o: Outcome) -> str:
    """All that the server was sent."""
    file = o.folder / "frames"
    return file.read_text("utf-8") if file.exists() else ""


def _told(text: str) -> Callable[[Outcome], Iterator[str]]:
    """Complains unless a call was told a text."""

    def complain(o: Outcome) -> Iterator[str]:
        lost = o.cut and any("nobody saw how it ended" in told for told in spread(o))
        if o.situation in MADE and o.work and not (lost or any(text in t for t in spread(o))):
            yield f"no call was told {text!r}: {spread(o)}"

    return complain


@_server("name", "command", "args", "env")
def server(o: Outcome) -> Iterator[str]:
    if not plans(o, "Sends from afar."):
        yield "no request shows the description"
    if o.situation != "denied" and not any(line.startswith(ACTS) for line in o.effects):
        yield f"the server was not called: {o.effects}"


_server("cwd", cwd="<FOLDER>/sub")(_told("/sub"))


@_server("effects", effects={"send": "read", "other": "read"}, lax="repeats")
def effects(o: Outcome) -> Iterator[str]:
    yield from only_reads(o)


@_server("trusted", trusted=["send"])
def trusted(o: Outcome) -> Iterator[str]:
    made = [c.observation for r in o.runs for c in r.calls if c.action.name == ACTS]
    if any(it is not None and it.ok and it.trust != "trusted" for it in made):
        yield "what a trusted tool says counts as untrusted"


@_server("only", only=["send"])
def only(o: Outcome) -> Iterator[str]:
    if plans(o, "far_other"):
        yield "a request shows a tool that is left out"


def _offers(key: str, *names: str) -> None:
    table: dict[str, Any] = {key: True}

    @_server(key, **table)
    def further(o: Outcome) -> Iterator[str]:
        if o.work:
            yield from every(
                o.work, lambda r: all(map(r.asked.offers, names)), f"{', '.join(names)} are offered"
            )


_offers("resources", "far_list_resources", "far_read_resource")
_offers("prompts", "far_list_prompts", "far_get_prompt")


@_server("sampling", sampling=5000)
def sampling(o: Outcome) -> Iterator[str]:
    if o.situation in MADE and o.effects:
        if not any("A question from afar." in r.asked.text for r in o.requests):
            yield "the question of the server reached no model"
        yield from _told('"model"')(o)


@_server("roots", roots=["<FOLDER>/sub"])
def roots(o: Outcome) -> Iterator[str]:
    if o.situation in MADE and o.effects and "/sub" not in frames(o):
        yield "the server was not told the folder"


_server("timeout", timeout=0.4, hangs="call", lax="acts answers repeats")(_told("0.4"))
_server("connect_timeout", connect_timeout=5.0, hangs="beginning", lax="acts answers repeats")(
    _told("in 5 s")
)


@_server("url", "headers", url="<FAR>/open/mcp", headers={"x-matrix": "yes"})
def url(o: Outcome) -> Iterator[str]:
    if not plans(o, "Sends from afar."):
        yield "no request shows the description"
    if not o.far.seen or any(each.get("x-matrix") != "yes" for each in o.far.seen):
        yield "a request came without the header"


_AUTH: Final = {
    "grant": "client_credentials",
    "client_id": "clew",
    "client_secret": "${MATRIX_SECRET}",
    "issuer": "<FAR>",
    "scope": "letters",
}
_KEYS: Final = ("grant", "client_id", "client_secret", "issuer", "scope")


@_server(*(f"auth.{key}" for key in _KEYS), url="<FAR>/closed/mcp", auth=_AUTH)
def auth(o: Outcome) -> Iterator[str]:
    want = {"grant_type": "client_credentials", "basic": "clew:matrix-secret", "scope": "letters"}
    tokens = [{key: each.get(key) for key in want} for each in o.far.tokens]
    if not tokens or any(each != want for each in tokens):
        yield f"a token was asked for otherwise: {tokens}"


@promise("connection.proxy", values={"connection": {"proxy": "<PROXY>"}})
def proxy(o: Outcome) -> Iterator[str]:
    if len(o.passed) < len(o.requests):
        yield f"{len(o.requests)} requests, and only {len(o.passed)} by way of the proxy"


@promise(
    "connection.rate",
    values={
        "connection": {"rate": "1 requests", "base_url": "<ALIAS>"}, "limits": {"seconds": 1}
    },
    lax="acts answers raises",
)  # fmt: skip
def rate(o: Outcome) -> Iterator[str]:
    if len(o.requests) > 1:
        yield f"{len(o.requests)} requests in a minute"
