"""Whether the parts of an agent fit together: said when it is made, before any model call."""

from collections.abc import Callable, Collection, Mapping, Sequence

from clew.errors import ConfigError
from clew.events import FINISH, Json
from clew.protocols import Codec, Describes, Example, Finder, Tool
from clew.tools.schema import checked


def check_tools(tools: Sequence[Tool]) -> None:
    """Raise `ConfigError` where two tools have a name, or one has that of finish, or is none."""
    names = [tool.name for tool in tools]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        message = f"two tools are called {', '.join(twice)}: rename one"
        raise ConfigError(message)
    if FINISH in names:
        message = f"{FINISH!r} is the tool that ends a run: call yours something else"
        raise ConfigError(message)
    for tool in tools:
        checked(tool)


def check_cost(limit: float | None, tools: Sequence[Tool]) -> None:
    """Raise `ConfigError` where a limit on cost could not hold a sub-agent without a price."""
    unpriced = [t.name for t in tools if t.most is not None and t.most.cost is None]
    if limit is not None and unpriced:
        message = (
            f"a cost limit cannot hold {unpriced[0]}, whose model has no known price: say what it "
            "costs (prices=, or [prices] in an agent file), or limit tokens"
        )
        raise ConfigError(message)


def check_number(name: str, value: object, least: int | None = None) -> None:
    """Raise `ConfigError` for what is no whole number, or less than `least`."""
    if type(value) is not int or (least is not None and value < least):
        wanted = "a whole number" if least is None else f"{least} or more"
        message = f"{name} is {value!r}: give {wanted}"
        raise ConfigError(message)


def check_choice(name: str, value: object, known: Collection[str]) -> None:
    """Raise `ConfigError` for a word that is none of those known."""
    if value not in known:
        message = f"{name} is {value!r}: choose one of {', '.join(known)}"
        raise ConfigError(message)


def check_retrieval(retrieval: Finder, tools: Sequence[Tool], codec: Codec) -> None:
    """Raise `ConfigError` where tools cannot be shown as they are found."""
    shown = {tool.name for tool in tools if not tool.hidden}
    if strange := [name for name in retrieval.always if name not in shown]:
        message = f"there is no tool {strange[0]!r} to be always shown: add it, or leave it out"
        raise ConfigError(message)
    if not codec.native and not isinstance(codec, Describes):
        message = (
            f"the format {codec.name} cannot describe tools in the midst of a run: give "
            "it the method describe (clew.protocols.Describes), or leave the retrieval out"
        )
        raise ConfigError(message)


def check_example(
    number: int, example: Example, problems: Mapping[str, Callable[[Json], list[str]]]
) -> None:
    """Raise `ConfigError` where an example makes a call, and sees it done, that cannot be made.

    `problems` says of each tool's arguments, by the tool's name, what is wrong with them.
    """
    for call in (call for step in example.steps for call in step.calls):
        name, args = call.action.name, call.action.args
        if call.observation is not None and not call.observation.ok:
            continue
        if name not in problems:
            has = ", ".join(problems)
            message = f"example {number} calls {name}, which the agent does not have; it has {has}"
            raise ConfigError(message)
        if wrong := problems[name](args):
            message = f"example {number} calls {name} wrongly: {wrong[0]}"
            raise ConfigError(message)
