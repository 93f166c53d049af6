"""One gateway calls tools: `core/execute.py`. What calls them elsewhere goes round all guards."""

import ast
from collections.abc import Iterator

from tests.test_layers import ROOT

SOURCES = {
    path.relative_to(source).as_posix().removeprefix("clew/"): path
    for source in ROOT.glob("packages/*/src")
    for path in sorted(source.rglob("*.py"))
}
"""All files of all packages, by their names; those of clew without its own."""

GATEWAY = {
    "core/execute.py": "makes every call, once it was judged",
    "tools/fallback.py": "is itself a tool, and asks the guards of both tools",
    "clew_mcp/tools.py": "`pinned.call` asks a server: it is what such a tool does",
}

NO_TOOLS = frozenset({
    *("attempt", "entry.event", "event", "judged", "observation", "ruling", "verdict", "word"),
    *("context.record", "end.record", "journal.trajectory", "of", "record", "root", "trajectory"),
    *("self.record", "self.trajectory", "above", "runs"),
})  # fmt: skip
"""What has a `call` and is no tool: an event or an approval names one, a record finds one."""

KNOWN = frozenset({
    *("agent/approvals.py: each", "cli/approval_prompts.py: each", "cli/chat.py: each"),
    *("cli/approvals.py: each", "agent/result.py: each"),
    *("core/pending.py: each", "core/pending.py: self", "operations/held_notices.py: each"),
    *("core/trajectory.py: self", "evidence/support.py: each"),
    "clew_acp/permissions.py: approval",
    *("clew_mcp/serve/approvals.py: each", "clew_mcp/serve/results.py: each"),
    *("cli/audit.py: source", "cli/outcome.py: link", "cli/leave_ruling.py: each"),
    *("cli/leave_ruling.py: waiting", "core/fork.py: e", "cli/why.py: explanation"),
    *("core/settling.py: word", "deps/run_context.py: self"),
    *("context/visible.py: seen", "guards/provenance/explain.py: seen"),
    *("guards/provenance/arguments.py: origin",),
    *("core/replay.py: new", "core/replay.py: old", "core/trajectory.py: self.forks[-1]"),
    *("evidence/support.py: calculation", "evidence/support.py: piece"),
    *("tools/process.py: resolved", "concurrency/portal.py: started"),
    *("clew_evals/environments/database.py: was", "clew_mcp/serve/server.py: calls"),
    *("clew_code/programs/tool.py: _Programs(executor, limits, known)",),
    *("conversations/history.py: outcome", "agent/streaming/browser_events.py: item"),
    *("clew_serve/api/decisions.py: each", "clew_serve/api/inbox.py: each"),
    "clew_serve/pages/steering.py: form",
    *("clew_serve/agui/events.py: each", "clew_serve/agui/events.py: seen"),
    *("clew_serve/agui/interrupts.py: waiting", "clew_serve/turns/results.py: event"),
    *("clew_mcp/connection.py: asked", "clew_mcp/pinned_server.py: self._failed"),
    *("clew_code/workspace/gate.py: last", "clew_code/codec/program_examples.py: one"),
})  # fmt: skip
"""Other uses that were looked at: records, passages, processes, and what a tool is made of."""


def uses(source: str) -> Iterator[tuple[int, str]]:
    """The lines that take the attribute `call` of something that may be a tool."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(value=value, attr="call", ctx=ast.Load()):
                if (of := ast.unparse(value)) not in NO_TOOLS:
                    yield node.lineno, of
            case ast.Call(func=ast.Name(id="getattr"), args=[of, ast.Constant("call"), *_]):
                if ast.unparse(of) not in NO_TOOLS:
                    yield node.lineno, ast.unparse(of)
            case ast.Call(func=ast.Name(id="attrgetter"), args=[ast.Constant("call"), *_]):
                yield node.lineno, "attrgetter"
            case _:
                pass


def test_no_tool_is_called_outside_the_gateway() -> None:
    found: list[str] = []
    for name, path in SOURCES.items():
        if name not in GATEWAY:
            found += [
                f"{name}:{line}: {of}.call"
                for line, of in uses(path.read_text("utf-8"))
                if f"{name}: {of}" not in KNOWN
            ]
    assert found == []


def test_a_new_use_is_found() -> None:
    lines = (
        "tool.call(args, key)",
        "await agent.engine.tools[name].call({}, '')",
        "context.run(role.call, args)",
        "self.tool.call(args, key)",
        "partial(tools['a'].call, {})",
        "getattr(it, 'call')(args, key)",
        "call = tool.call",
    )
    for line in lines:
        assert [*uses(line)] != [], line


def test_the_gateway_still_calls_them() -> None:
    for name in GATEWAY:
        assert [*uses(SOURCES[name].read_text("utf-8"))] != [], name
