"""Records as resources: `clew://runs/RUN_ID`, as JSON, and `clew://runs/RUN_ID/markdown`."""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from clew import Call, ConfigError, Step, Trajectory
from clew.guards import safe_links
from clew.interfaces import Json, RunInfo
from clew.stores.listing import status_of, summary
from clew.support.short_text import one_line
from clew_mcp.serve.runs import ClientRuns, tool_of

Context: TypeAlias = ServerRequestContext[ClientRuns]

_URI: Final = re.compile(r"clew://runs/([^/?#]+)(/markdown)?")
_JSON: Final = "application/json"
_MARKDOWN: Final = "text/markdown"
_PAGE: Final = 50
_MAX_QUESTION_CHARS: Final = 80  # characters of a question, in a listing
_NOT_FOUND: Final = -32002  # an unknown resource, before 2026-07-28


async def list_resources(
    ctx: Context, params: types.PaginatedRequestParams | None
) -> types.ListResourcesResult:
    """The runs that clients began, last written first."""
    cursor = (params.cursor if params is not None else "") or ""
    infos, more = await ctx.lifespan_context.page_after(cursor, _PAGE)
    return types.ListResourcesResult(
        resources=[_resource(info) for info in infos],
        next_cursor=more or None,
        ttl_ms=0,
        cache_scope="private",
    )


def _resource(info: RunInfo) -> types.Resource:
    begun = summary(info)
    goal = one_line(begun.started.words, _MAX_QUESTION_CHARS) if begun is not None else ""
    return types.Resource(
        uri=f"clew://runs/{info.run_id}",
        name=info.run_id,
        title=goal or info.run_id,
        description=f"A run of {tool_of(info)}: {status_of(info.last.body)}",
        mime_type=_JSON,
    )


async def list_templates(
    ctx: Context, params: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    """The URI templates of records."""
    return types.ListResourceTemplatesResult(
        resource_templates=[
            types.ResourceTemplate(
                name="run",
                uri_template="clew://runs/{run_id}",
                description="The record of a run that a client began: all its entries.",
                mime_type=_JSON,
            ),
            types.ResourceTemplate(
                name="run-markdown",
                uri_template="clew://runs/{run_id}/markdown",
                description="The same for people: thoughts, calls, observations, the answer.",
                mime_type=_MARKDOWN,
            ),
        ],
        ttl_ms=0,
        cache_scope="private",
    )


async def read_resource(
    ctx: Context, params: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    """A record. Only runs that clients began are found."""
    match = _URI.fullmatch(params.uri)
    try:
        if match is None:
            message = f"there is no resource {params.uri[:200]}"
            raise ConfigError(message)
        record, _ = await ctx.lifespan_context.find(match[1])
    except ConfigError as error:
        modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
        code = types.INVALID_PARAMS if modern else _NOT_FOUND
        raise MCPError(code, str(error), {"uri": params.uri}) from error
    document = markdown(record) if match[2] else msgspec.json.encode(as_json(record)).decode()
    mime = _MARKDOWN if match[2] else _JSON
    content = types.TextResourceContents(uri=params.uri, mime_type=mime, text=document)
    return types.ReadResourceResult(contents=[content], ttl_ms=0, cache_scope="private")


def as_json(record: Trajectory) -> dict[str, Any]:
    """A record as one JSON document: its state, and each of its entries."""
    stop = record.stop
    return {
        "run_id": record.run_id,
        "goal": record.goal,
        "status": stop.status if stop is not None else "open",
        "answer": safe_links(record)(stop.answer)[0] if stop is not None else None,
        "entries": [
            {"seq": entry.seq, "at": entry.at, **msgspec.to_builtins(entry.event)}
            for entry in record.entries
        ],
    }


def markdown(record: Trajectory) -> str:
    """A record as Markdown. Arguments and observations are in fences, so they stay plain text."""
    stop, safe = record.stop, safe_links(record)
    parts = [f"# Run {record.run_id}", f"**Question**\n\n{_quoted(record.goal)}"]
    for number, step in enumerate(record.steps, 1):
        parts += [f"## Step {number}", *_step(step, safe)]
    if stop is not None:
        why = f": {stop.reason}" if stop.reason else ""
        parts.append(f"## {stop.status.capitalize()}{_escaped(why)}")
        if stop.answer is not None:
            answer, _ = safe(stop.answer)
            answer = answer if isinstance(answer, str) else _compact(answer)
            parts.append(_quoted(answer))
    return "\n\n".join(parts) + "\n"


def _step(step: Step, safe: Callable[[Json], tuple[Json, tuple[str, ...]]]) -> Iterator[str]:
    if step.thought is not None and step.thought.text.strip():
        yield _quoted(str(safe(step.thought.text)[0]))
    for call in step.all_calls:
        yield f"**{call.key}** {call.action.name}\n\n{_fenced(_compact(call.args))}"
        if (outcome := _outcome(call)) is not None:
            yield _fenced(outcome)


def _outcome(call: Call) -> str | None:
    if call.observation is not None:
        content = call.observation.content
        return content if isinstance(content, str) else _compact(content)
    if call.held and call.verdict is not None:
        return f"held: {call.verdict.verdict.reason}"
    return None


def _compact(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _fenced(words: str) -> str:
    ticks = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", words)), default=0))
    return f"{ticks}\n{words}\n{ticks}"


def _escaped(words: str) -> str:
    """Text with images and HTML escaped, which a viewer might fetch unasked."""
    return re.sub(r"!(?=\[)|<(?=[a-zA-Z/!?])", lambda match: f"\\{match[0]}", words)


def _quoted(words: str) -> str:
    return "> " + _escaped(words.strip()).replace("\n", "\n> ")
