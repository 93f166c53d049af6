"""Agents of records that somebody else began: what they name, and that nothing is made unasked."""

from collections.abc import Iterator, Mapping

from clew.agent_files.provenance import is_foreign
from clew.agent_files.spec import Spec
from clew.agent_files.tool_labels import names_function
from clew.core.trajectory import Trajectory
from clew.support.errors import ConfigError


class ForeignOriginError(ConfigError):
    """Somebody else began the run; the notes of the error list what its agent names."""


def refuse_foreign(record: Trajectory, spec: Spec) -> None:
    """Raise `ForeignOriginError` if somebody else says what the agent is made of."""
    if not is_foreign(record):
        return
    message = (
        f"run {record.run_id} was not begun by you on this machine, and what its agent names would "
        f"be run as you: look at it (clew show {record.run_id}), then trust it (clew resume "
        f"{record.run_id} --trust-origin), or give an agent of your own (--set agent=FILE)"
    )
    error = ForeignOriginError(message)
    for line in outside_parts(spec):
        error.add_note(f"  {line}")
    raise error


def outside_parts(spec: Spec) -> Iterator[str]:
    """Everything outside of clew that an agent would run, import, read or connect to."""
    for program in spec.programs:
        folder = program.cwd or "the working folder"
        yield f"program {program.name}: {[*program.argv]} in {folder}"
    for function in spec.processes:
        yield f"module {function.function} in a process"
    parts = {"answer": (spec.answer,), "tools": spec.named_tools, "screens": spec.screens}
    parts |= {"guards": spec.guards, "bounds": spec.bounds, "checks": spec.checks}
    parts |= {"strategy": () if spec.planned is None else (spec.planned.name,)}
    parts["approve"] = tuple(filter(names_function, map(str, spec.approve.values())))
    if spec.provenance != "standard":
        free = ", ".join(spec.judges.exempt)
        yield f"provenance {spec.judges.level}{' but for ' if free else ''}{free}"
    if spec.retrieval is not None:
        parts["embed"] = (spec.retrieval.embed,)
    for what, names in parts.items():
        for name in names:
            if ":" in name:
                yield f"module {name} ({what}) from {spec.folder or 'the working folder'}"
    for server in spec.mcp:
        yield f"MCP server {server.name}: {server.url or [server.command, *server.args]}"
        for name, text in {**server.env, **server.headers}.items():
            yield f"MCP server {server.name} gets {name}: {text}"
    for each in spec.agents:
        yield f"agent file {each.file}"
    for file in () if spec.planned is None else spec.planned.files.values():
        yield f"agent file {file}"
    yield from _descriptions(spec)
    yield from _servers(spec)


def _descriptions(spec: Spec) -> Iterator[str]:
    folder = spec.workspace if isinstance(spec.workspace, str) else spec.workspace.root
    named = {"documents": spec.docs, "memories": spec.memory, "files and programs in": folder}
    yield from (f"{what} {value}" for what, value in named.items() if value)


def _servers(spec: Spec) -> Iterator[str]:
    reached = spec.connection
    for what, address in {"server": reached.base_url, "proxy": reached.proxy}.items():
        if address:
            yield f"{what} {address}"
    headers: Mapping[str, str] = reached.headers or {}
    for name, text in headers.items():
        yield f"header {name}: {text}"
