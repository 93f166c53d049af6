"""WebShop: buy what an instruction asks for, at its own server or by its own package.

Its server (`run_prod.sh`, for Python 3.8) is reached by HTTP. Its package `web_agent_site` is
loaded only where no server is named. Either way the tools are `search` and `click`, so that the
paper's format reads as in the paper: `search[red shoes]`, `click[Buy Now]`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from clew import ConfigError
from clew.support.error_text import described
from clew_evals.case import Case
from clew_evals.environments.episode import EnvironmentStyle, Verb, last
from clew_evals.environments.moves import EnvironmentOutput, Game
from clew_evals.environments.packages import load
from clew_evals.environments.shop import Shop
from clew_evals.environments.textworld import Make, text_world
from clew_evals.world import World

_ASK: Final = (
    "Buy in this shop what the instruction asks for: find it, choose its options, and click "
    "Buy Now. When you have bought it, finish and say what it was."
)

VERBS: Final = (
    Verb(
        "search",
        "Search the shop. It can be done where there is a Search button, as on the first page.",
        "words",
        "What to look for",
        "red shoes",
        "search[{}]",
    ),
    Verb(
        "click",
        "Click a button, a product or an option of the page you see.",
        "button",
        "What is written on it",
        "Buy Now",
        "click[{}]",
    ),
)


class WebshopOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a matrix file may say of this world.

    The goals are those numbered from `start` on, `take` of them, in the shop's fixed order.
    `server` is the address of a server. `products` and `human_goals` are given to the package,
    where that is used; a server has its own.
    """

    server: str = ""
    start: int = 0
    take: int = 100
    products: int | None = None
    human_goals: bool = True
    commands: bool = True
    timeout: float = 30.0


OPTIONS: Final = WebshopOptions
"""What `clew_evals.environments` reads the settings of a matrix file into."""


USUAL: Final = WebshopOptions()


def world(path: str | Path = "", options: WebshopOptions = USUAL) -> World:
    """Goals of a server, or of the package over its products, or over those of the file `path`.

    Raises `ConfigError` where neither is there.
    """
    if options.start < 0 or options.take < 1:
        message = "webshop: start must be 0 or more, and take 1 or more"
        raise ConfigError(message)
    cases = [_case(number) for number in range(options.start, options.start + options.take)]
    if options.server and not options.server.startswith(("http://", "https://")):
        message = f"webshop: server is {options.server!r}: give an address, http://host:port"
        raise ConfigError(message)
    make = _by_server(options) if options.server else _by_package(str(path), options)
    manner = EnvironmentStyle(
        verbs=VERBS,
        offers=_offers,
        commands=options.commands,
        score=last,
        timeout=options.timeout,
        alone=not options.server,
    )
    return text_world("webshop", cases, make, manner)


def _case(number: int) -> Case:
    return Case(
        f"goal-{number}",
        _ASK,
        {"reward": 1.0},
        tests="finding and choosing among many",
        extra={"goal": number},
    )


def _by_server(options: WebshopOptions) -> Make:
    def make(case: Case) -> Game:
        return Game(Shop(options.server.rstrip("/"), _goal(case), options.timeout), {})

    return make


def _by_package(file: str, options: WebshopOptions) -> Make:
    package = load(
        "web_agent_site.envs",
        "the world webshop needs the address of a server, or WebShop's own package web_agent_site",
    )
    arguments: dict[str, Any] = {"observation_mode": "text", "human_goals": options.human_goals}
    arguments |= {"file_path": file} if file else {}
    arguments |= {} if options.products is None else {"num_products": options.products}
    try:
        shop = package.WebAgentTextEnv(
            **arguments
        ).server  # loads the products, once for all episodes
    except Exception as error:
        message = f"WebShop's own package cannot load its products: {described(error)}"
        raise ConfigError(message) from error

    def make(case: Case) -> Game:
        environment = package.WebAgentTextEnv(observation_mode="text", server=shop)
        return Game(environment, {"session": _goal(case)})

    return make


def _goal(case: Case) -> int:
    return msgspec.convert(case.extra["goal"], int)


def _offers(environment: Any, seen: EnvironmentOutput) -> Sequence[str]:
    """What can be clicked, and whether there is a search bar: a page of the server shows it."""
    if isinstance(environment, Shop):
        return ()
    actions = environment.get_available_actions()
    buttons = [text for text in actions["clickables"] if text != "search"]
    search = ["search[words]"] if actions["has_search_bar"] else []
    return [*search, *(f"click[{text}]" for text in buttons)]
