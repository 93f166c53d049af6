"""What clew's own wings, and other people's packages, add by a name: one table, of entry points.

The table stands in pyproject.toml, and in that of every package that adds something. It is read
when a name has to be found, and not before: `import clew` pays nothing for it.
"""

from importlib.util import find_spec
from typing import Any, Final

from clew.support.entry_points import CORE, counting, package_name, versions_met
from clew.support.error_text import described, message_of
from clew.support.errors import ConfigError
from clew.support.extras import install, install_package
from clew.support.street import EXTRAS, PACKAGES, package_of

MODELS: Final = "clew.models"
"""`NAME:model`: a `Provider`, or a function from a model's name and options to a `Model`."""
CODECS: Final = "clew.codecs"
"""`codec` of an agent and of its file: a `Codec`, by the first part of its name."""
EXAMPLES: Final = "clew.examples"
"""`run_code`, worked examples of programs: a function from an agent's tools, and from what says
whether a call fits them, to `Example`s."""
STORES: Final = "clew.stores"
"""`NAME://…`: a function from an address to a `Store`."""
WORKERS: Final = "clew.workers"
"""`clew worker --driver NAME`: a `clew.workers.Driver`, such as a module with `serve`."""
AGENTS: Final = "clew.agents"
"""What a worker has for an agent that it is not given: `named`, a function from the name of a file,
or of an object, to an agent and its origin; `recorded`, which makes agents of what records say."""
TOOLS: Final = "clew.tools"
"""`--tools NAME`, and `tools` of an agent file: a function that makes a `Tool`."""
GUARDS: Final = "clew.guards"
"""What a tool of that name does not work without: a function that makes a `Guard`."""
SCREENS: Final = "clew.screens"
"""`screens` of an agent file: a `Screen`."""
CHECKS: Final = "clew.checks"
"""`--checks NAME`, and `checks` of an agent file: a function from its settings to a `Check`."""
DOCUMENTS: Final = "clew.documents"
"""`docs`, of an agent file: a function from a folder to its documents; `docs_tools`: to tools."""
MEMORY: Final = "clew.memory"
"""`memory`, of an agent file; `tools`: a function from a file of memories to tools."""
MCP: Final = "clew.mcp"
"""`mcp`, of an agent file; `tools`: a function from a table, its file and a model to tools."""
PROGRAMS: Final = "clew.programs"
"""`programs` of an agent file; `tool`: a function from a table's keys to a tool."""
STRATEGIES: Final = "clew.strategies"
"""`strategy` of an agent file: takes an agent and settings, and gives a `Strategy`; and
`strategy_agent`, which makes an agent of one."""
VOTES: Final = "clew.votes"
"""`clew ask --votes K`: `vote`, `vote_status`, `agent_of` and `verifying` of the package that has
them."""
WORKSPACE: Final = "clew.workspace"
"""`workspace`, of an agent file; `tools`: a function from a folder and its settings to tools."""
DOCTOR: Final = "clew.doctor"
"""An area of `clew doctor`: a function that gives name, whether it is usable, and why, of each."""
COMMANDS: Final = "clew.commands"
"""`clew NAME`: a `click.Command`; with a dot in it, a command of one of clew's groups."""
EXPORTS: Final = "clew.exports"
"""`clew show --NAME FILE`: a function from a store and a run's id to pieces of a file, as they are
made: `async def export(store, run_id) -> AsyncGenerator[bytes]`."""


def names(group: str) -> list[str]:
    """All names of a group, in order."""
    return sorted(counting(group))


def find(group: str, name: str, asked: str = "") -> Any:
    """What has that name; None where nobody adds one.

    Raises `ConfigError` where its package is not installed or cannot be imported, whatever the
    import raises: it says how to add what is missing. `asked` is what the user wrote for it.
    """
    if (entry := counting(group).get(name)) is None:
        if package := package_of(group, name):
            advice = install_package(package, EXTRAS.get((group, name), ""))
            message = f"{asked or name} needs {package}, which is not installed: run {advice}"
            raise ConfigError(message, install=advice)
        return None
    return load(entry, asked)


def load(entry: Any, asked: str = "") -> Any:
    """What an entry point names, imported. Raises `ConfigError`, in one line, where it cannot be.

    Other people's code runs here, so whatever it raises is caught: one broken package may be in
    the way of who asks for it, and of nobody else.
    """
    try:
        return entry.load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if not isinstance(error, ImportError) or not (missing := missing_package(error)):
            raise ConfigError(unimportable(entry, error)) from error
        advice = _command(entry)
        message = f"{asked or entry.name} needs {missing}, which is not installed: run {advice}"
        raise ConfigError(message, install=advice) from error


def unimportable(entry: Any, error: BaseException) -> str:
    """Why an entry point cannot be imported, and whose it is."""
    why = message_of(error) if isinstance(error, ImportError) else described(error)
    package = package_name(entry)
    message = f"{entry.name} cannot be imported from {entry.value} of {package}: {why}"
    return message + versions_met(package, error)


def require(group: str, name: str, asked: str = "") -> Any:
    """What has that name. Raises `ConfigError`, also where nobody adds one."""
    if (entry := find(group, name, asked)) is None:
        advice = f"install a package that adds it, or clew again: {install('')}"
        raise ConfigError(f"nothing here has the name {name} in {group}: {advice}")
    return entry


def missing_package(error: ImportError) -> str:
    """The package whose absence made an import fail; "" where the error is inside a package."""
    name = error.name or ""
    if isinstance(error, ModuleNotFoundError) and name and "." not in name:
        return name  # a package, and not a module inside one
    missing = name.partition(".")[0]
    return "" if not missing or _is_installed(missing) else missing


def _is_installed(package: str) -> bool:
    """Whether a package is there, so that an error of its import is an error inside it."""
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def _command(entry: Any) -> str:
    """The command that adds what an entry needs."""
    name = package_name(entry)
    if name in {CORE, *PACKAGES}:
        return install(entry.extras[0] if entry.extras else "", name)
    extras = f"[{','.join(entry.extras)}]" if entry.extras else ""
    return f"pip install '{name}{extras}'"
