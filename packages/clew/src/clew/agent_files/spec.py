"""What an agent is made of, as plain values: an agent file, the options of a command, an origin."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import msgspec

from clew.agent_files.gone_tools import without_gone_tools
from clew.agent_files.strategy_table import StrategyTable
from clew.context.instructions import PROMPT, TellLeft
from clew.core.codes import Effect, Trust
from clew.core.tools import ToolSpec
from clew.core.values import Json
from clew.guards import Provenance
from clew.guards.limits import Limits, Repeats
from clew.guards.provenance import Level, judged
from clew.support.errors import ConfigError
from clew.support.model_settings import Cache, Effort, ModelSettings

USUAL: Final = ("calc", "planner")
"""The tools of an agent that says nothing of tools."""

SCREENS: Final = ("injections",)
"""The default screens of agent files and commands."""

ORIGIN: Final = "cli"
"""The key of the spec in `Started.origin`."""

Schema: TypeAlias = dict[str, Json]


class AgentPartError(ConfigError):
    """A part of an agent cannot be made; `path` says where it is described."""

    def __init__(self, path: tuple[str | int, ...], message: str) -> None:
        super().__init__(message)
        self.path = path


@contextmanager
def part(*path: str | int) -> Generator[None]:
    """Whatever does not fit in here is a fault of this part of the description.

    Of a whole table it is the fault of the key that the error names.
    """
    try:
        yield
    except ConfigError as error:
        named = tuple(error.field.split(".", 1)) if path and error.field else ()
        inner = () if set(named) & set(path) else named
        raise AgentPartError((*path, *inner), str(error)) from error


class FileTable(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """Base of the tables of an agent file: what is not known there is an error, not a default."""


class PromptTable(FileTable, frozen=True, omit_defaults=False):
    """The table `prompt`: how prompts are made (`clew.Instructions`); `variants` by yes or no."""

    persona: str = PROMPT.persona
    constraints: tuple[str, ...] = PROMPT.constraints
    output: str = ""
    verbatim: bool = False
    examples: int | None = None
    thought: bool | None = None
    short: bool | None = None
    repeat_question: bool | None = None
    strict_landing: bool | None = None
    raw_replies: bool | None = None
    outcome: bool | None = None
    tell_left: TellLeft = "near"
    variants: bool = True


class ModelConnection(FileTable, frozen=True):
    """How the model's server is reached; seconds, addresses, header lines, "60 requests" a minute.

    `${NAME}` in an address or a header is the environment variable of that name, so that no key
    need stand in a file.
    """

    base_url: str | None = None
    patience: float | None = None
    total: float | None = None
    rate: str | None = None
    proxy: str | None = None
    headers: dict[str, str] | None = None


class SettingsTable(FileTable, frozen=True):
    """The table `settings`: what the model is told beside its prompt (`clew.ModelSettings`)."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    effort: Effort | None = None
    reasoning_tokens: int | None = None
    cache: Cache | None = None
    timeout: float | None = None
    extra: dict[str, Json] = {}

    @property
    def settings(self) -> ModelSettings:
        """The settings meant. Raises `ConfigError`, with the place, for what cannot be meant."""
        values: dict[str, Any] = msgspec.to_builtins(self)
        for name, value in values.items():
            with part("settings", name):
                ModelSettings(**{name: value})
        with part("settings"):
            return ModelSettings(**values)


class PriceTable(FileTable, frozen=True):
    """What a model costs: US dollars per million tokens."""

    input: float
    output: float
    cached: float | None = None


class LimitsTable(FileTable, frozen=True):
    """What stops a run; what is left out is as usual (`clew.Limits`)."""

    steps: int | None = None
    tool_calls: int | None = None
    calls_per_step: int | None = None
    calls_per_tool: dict[str, int] | None = None
    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None
    faults: int | None = None
    depth: int | None = None
    argument_bytes: int | None = None
    observation_bytes: int | None = None
    part_seconds: float | None = None
    reply_seconds: float | None = None
    grace: float | None = None
    landing: bool | None = None
    unknown: Literal["tell", "hold"] | None = None
    no_progress: Repeats | None = None

    @property
    def limits(self) -> Limits:
        """The limits meant; `ConfigError` for a number that bounds nothing."""
        return Limits(**msgspec.to_builtins(self))


class GroundedTable(FileTable, frozen=True):
    """The settings of the check `grounded`: those of `clew.evidence.Grounded`."""

    threshold: float = 0.5
    citations: Literal["searched", "always", "never"] = "searched"
    scope: Literal["sentence", "paragraph"] = "sentence"


class HarmfulTable(FileTable, frozen=True):
    """The table `harmful`: the settings of `clew.HarmfulRequests`; without `model` the agent's."""

    model: str = ""
    then: Literal["refuse", "ask", "mark"] = "refuse"
    unjudged: Literal["refuse", "ask", "pass"] = "refuse"


class ProgramTool(FileTable, frozen=True):
    """A command-line program as a tool (of clew-code); `cwd` is relative to the file."""

    name: str
    description: str
    argv: tuple[str, ...]
    parameters: dict[str, Schema] = {}
    effect: Effect = "unsafe"
    timeout: float = 30.0
    dashes: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    cwd: str = ""
    limit: int = 50_000


class ProcessTable(FileTable, frozen=True):
    """A function `module:name` as a tool in a process of its own (`clew.tools.process`).

    What is left out is read from the function; `cpu` is in seconds, `memory` in bytes.
    """

    function: str
    name: str = ""
    description: str = ""
    effect: Effect = "unsafe"
    timeout: float = 30.0
    cpu: int = 0
    memory: int = 0
    version: str = "1"
    env: tuple[str, ...] = ()

    @property
    def called(self) -> str:
        """The tool's name."""
        return self.name or self.function.rpartition(":")[2].rpartition(".")[2]


class ExternalTable(FileTable, frozen=True):
    """A tool that somebody else performs (`clew.tools.external`); `timeout` 0 waits for ever.

    `parameters` and `result` are JSON Schemas: of each parameter, and of the whole result.
    """

    name: str
    description: str
    parameters: dict[str, Schema] = {}
    result: Schema | None = None
    effect: Effect = "unsafe"
    trust: Trust = "untrusted"
    timeout: float = 0.0
    fallback: Json = None


class AgentTable(FileTable, frozen=True):
    """The agent of another file as a tool (`clew.delegate`); `file` is relative to this one."""

    name: str
    description: str
    file: str
    attachments: bool = False


class McpAuthTable(FileTable, frozen=True):
    """How clew signs in at an MCP server (`clew_mcp.McpAuth`)."""

    grant: Literal["authorization_code", "client_credentials"] = "authorization_code"
    client_id: str = ""
    client_secret: str = ""
    issuer: str = ""
    scope: str = ""
    port: int = 8976


class McpTable(FileTable, frozen=True):
    """A server of MCP tools (`clew_mcp.McpServer`); places are relative to the file."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str = ""
    url: str = ""
    headers: dict[str, str] = {}
    auth: McpAuthTable | None = None
    timeout: float = 120.0
    connect_timeout: float = 30.0
    effects: dict[str, Effect] = {}
    trusted: tuple[str, ...] = ()
    only: tuple[str, ...] | None = None
    resources: bool = False
    prompts: bool = False
    sampling: int = 0
    roots: tuple[str, ...] = ()


class WorkspaceTable(FileTable, frozen=True):
    """The table `workspace`: a folder, and the settings of `clew_code.workspace`'s tools.

    `only` names tools; `limits` are the fields of `clew_code.sandbox.SandboxLimits`.
    """

    root: str
    only: tuple[str, ...] | None = None
    network: bool = False
    readable: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    limits: dict[str, int] = {}
    default_branch: bool = False
    author: str = ""
    protected: tuple[str, ...] = ()
    trusted: bool = False
    unsafe_kernel: bool = False


class FallbackTable(FileTable, frozen=True):
    """A fallback whose parameters are called otherwise (`clew.tools.fallback.with_fallback`).

    `arguments` says what a parameter is called by `tool`; "" leaves it out.
    """

    tool: str
    arguments: dict[str, str] = {}


class LabelsTable(FileTable, frozen=True):
    """A table `labels.NAME`: labels of a tool (`clew.guards.Labels`) that it lacks itself."""

    trusted: tuple[str, ...] | None = None
    content: tuple[str, ...] | None = None
    egress: bool | None = None
    traces: bool | None = None
    secret: bool | None = None
    contained: bool | None = None


class RetrievalTable(FileTable, frozen=True):
    """The table `retrieval`: the settings of `clew.tools.retrieval.Retrieval`.

    `embed` is the name of a ranking, or `module:name` of an embedding of one's own; empty it
    is the best ranking that is installed.
    """

    k: int = 10
    always: tuple[str, ...] = ()
    embed: str = ""
    max_tools: int = 100
    per_server: int | None = None


class CompactionTable(FileTable, frozen=True):
    """The table `compaction`: the settings of `clew.Compaction`."""

    by: tuple[str, ...] = ("duplicates", "mask", "drop")
    at: float = 0.92
    to: float = 0.15
    keep: int = 3
    window: int | None = None


class ProvenanceTable(FileTable, frozen=True):
    """The table `provenance`: the settings of `clew.guards.Provenance`."""

    level: Level = "standard"
    exempt: tuple[str, ...] = ()

    @property
    def guard(self) -> Provenance:
        """The guard meant."""
        return Provenance(self.level, frozenset(self.exempt))

    def level_of(self, tool: ToolSpec) -> Level:
        """How a tool's calls are judged by where their arguments come from."""
        return self.level if judged(tool) and tool.name not in self.exempt else "off"


class RewindsTable(FileTable, frozen=True):
    """The table `rewinds`: the settings of `clew.Rewinds`; `critic` is a model, or empty."""

    by: tuple[str, ...] = ("repeated", "rejected")
    rejected: int = 2
    max_rewinds: int = 3
    critic: str = ""
    every: int = 5


class Spec(FileTable, frozen=True):
    """An agent as plain values, recorded as JSON in each of its runs.

    `model` is `provider:model`, or empty for the first usable one. `docs`, `memory`, `workspace`
    and `store` are paths or addresses. `tools` are names of shipped tools and `module:name` of your
    own; modules are looked up beside `file` (the agent file; empty: the working folder) first. The
    same holds for `screens`, `guards`, `bounds`, `checks`, the type `answer`, and `deps`, which
    makes those of a run. `fallback` is an answer as JSON has it. `approve` says which calls of a
    tool a person approves: true, a reason, or a function as `module:name`. Omitted values are those
    of `Agent`, except for tools: `named_tools`.
    """

    model: str = ""
    codec: str = ""
    prompt: str | PromptTable | None = None
    docs: str = ""
    memory: str = ""
    workspace: str | WorkspaceTable = ""
    store: str = ""
    tools: tuple[str, ...] | None = None
    programs: tuple[ProgramTool, ...] = ()
    processes: tuple[ProcessTable, ...] = ()
    external: tuple[ExternalTable, ...] = ()
    agents: tuple[AgentTable, ...] = ()
    mcp: tuple[McpTable, ...] = ()
    fallbacks: dict[str, str | FallbackTable] = {}
    labels: dict[str, LabelsTable] = {}
    approve: dict[str, bool | str] = {}
    retrieval: RetrievalTable | None = None
    compaction: CompactionTable | None = None
    rewinds: RewindsTable | None = None
    strategy: str | StrategyTable | None = None
    parser: str = ""
    settings: SettingsTable = SettingsTable()
    prices: dict[str, PriceTable] = {}
    connection: ModelConnection = ModelConnection()
    limits: LimitsTable = LimitsTable()
    screens: tuple[str, ...] = ()
    harmful: Literal["", "refuse", "ask", "mark"] | HarmfulTable = ""
    guards: tuple[str, ...] = ()
    provenance: Level | ProvenanceTable = "standard"
    bounds: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    grounded: GroundedTable | None = None
    answer: str = ""
    references: bool = False
    tries: int | None = None
    fallback: Json = None
    deps: str = ""
    file: str = ""

    @property
    def named_tools(self) -> tuple[str, ...]:
        """The tools by name, or the default ones."""
        return USUAL if self.tools is None else self.tools

    @property
    def planned(self) -> StrategyTable | None:
        """The strategy, if there is one."""
        table = self.strategy
        return (StrategyTable(table) if table else None) if isinstance(table, str) else table

    @property
    def judges(self) -> ProvenanceTable:
        """Which calls are judged by where their arguments come from."""
        level = self.provenance
        return level if isinstance(level, ProvenanceTable) else ProvenanceTable(level=level)

    @property
    def screening(self) -> HarmfulTable | None:
        """How harmful requests are looked for, if they are."""
        then = self.harmful
        return (HarmfulTable(then=then) if then else None) if isinstance(then, str) else then

    @property
    def examples(self) -> int | None:
        """The number of worked examples shown; None is as the model's variant has it."""
        return self.prompt.examples if isinstance(self.prompt, PromptTable) else None

    @property
    def folder(self) -> str:
        """Where modules are looked up first; empty for the working folder."""
        return str(Path(self.file).parent) if self.file else ""

    def replace(self, changes: Mapping[str, Any]) -> "Spec":
        """Return a copy with other values, by dotted names: `{"limits.steps": 3}`; None removes
        one.

        What it says of tools that the copy lists no more is left out, unless `changes` say it.
        Raises `msgspec.ValidationError` for values that do not fit.
        """
        document: dict[str, Any] = msgspec.to_builtins(self)
        for name, value in changes.items():
            put(document, name.split("."), value)
        copy = msgspec.convert(document, Spec)
        named = self.limits.calls_per_tool or self.fallbacks or self.provenance != "standard"
        if not (named or self.labels or self.approve or self.retrieval):
            return copy  # nothing is said of single tools
        before, after = msgspec.to_builtins(self), msgspec.to_builtins(copy)
        return msgspec.convert(without_gone_tools(before, after, changes, USUAL), Spec)


def origin(spec: Spec) -> dict[str, Json]:
    """The spec as it stands in the record."""
    return {ORIGIN: msgspec.to_builtins(spec)}


def put(document: dict[str, Any], path: Sequence[str | int], value: Json) -> None:
    """Set a value inside tables, or take it away with None; what is no table there becomes one."""
    table = document
    for key in map(str, path[:-1]):
        if key in _AS_TABLES and isinstance(text := table.get(key), str) and text:
            table[key] = _AS_TABLES[key](text)
        if not isinstance(table.get(key), dict):
            table[key] = {}
        table = table[key]
    last = str(path[-1])
    table[last] = value
    if value is None:
        del table[last]


def verbatim(text: str) -> dict[str, Json]:
    """A prompt that is one text, as a table."""
    return {"persona": text, "constraints": [], "verbatim": True}


_AS_TABLES: Final[Mapping[str, Callable[[str], dict[str, Json]]]] = {
    "prompt": verbatim,
    "workspace": lambda folder: {"root": folder},
    "provenance": lambda level: {"level": level},
    "harmful": lambda then: {"then": then},
}
"""Keys that may be one text, as the table that it stands for."""
