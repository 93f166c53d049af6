"""Tasks of arithmetic over data: a generator of invented warehouses, with exact answers.

Each takes several look-ups that do not need each other, and a sum or a comparison: what a plan
made beforehand, parallel calls and code are said to be good for.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypedDict

from clew import tool
from clew.core.tools import Tool
from clew.core.values import Json
from clew.toolbox import calc
from clew_evals import Case

SEED: Final = 64
KINDS: Final = ("bill", "order", "worth", "cheapest")
EACH: Final = 4

_NAMES: Final = (
    "apron", "basket", "candle", "drum", "easel", "funnel", "goblet", "hammer", "inkwell", "jug",
    "kettle", "lantern", "mirror", "needle", "oar", "pillow", "quilt", "rope", "saddle", "tray",
)  # fmt: skip
_ASK: Final = "Answer with {what} alone."


@dataclass(frozen=True)
class Shop:
    """What is sold: prices in dollars, pieces in stock, and one order of some pieces of goods."""

    prices: Mapping[str, int]
    stock: Mapping[str, int]
    number: int
    order: Mapping[str, int]


@dataclass(frozen=True)
class Errand:
    """A question about a shop, and its answer."""

    name: str
    question: str
    gold: Json
    shop: Shop

    def case(self) -> Case:
        """The question as a case."""
        return Case(self.name, self.question, self.gold, category="goods")


def errands() -> dict[str, Errand]:
    """All of them, always the same."""
    chance = random.Random(SEED)
    made = [_errand(kind, number, chance) for number in range(EACH) for kind in KINDS]
    return {one.name: one for one in made}


def _errand(kind: str, number: int, chance: random.Random) -> Errand:
    names: list[str] = chance.sample(_NAMES, 10)
    prices: dict[str, int] = dict(zip(names, chance.sample(range(11, 90), 10), strict=True))
    stock: dict[str, int] = {name: chance.randint(3, 40) for name in names}
    chosen = chance.sample(names, 4 if kind == "cheapest" else 3)
    pieces = {name: chance.randint(2, 9) for name in chosen}
    shop = Shop(prices, stock, chance.randint(200, 999), pieces)
    asked, gold = _asked(kind, shop, chosen)
    return Errand(f"goods-{kind}-{number + 1}", asked, gold, shop)


def _asked(kind: str, shop: Shop, chosen: Sequence[str]) -> tuple[str, Json]:
    each = ", ".join(chosen[:-1])
    alone = _ASK.format(what="the number of dollars")
    bill = sum(shop.prices[name] * count for name, count in shop.order.items())
    match kind:
        case "bill":
            parts = [f"{count} × {name}" for name, count in shop.order.items()]
            return f"What do {', '.join(parts)} cost together, in dollars? {alone}", {
                "number": bill
            }
        case "order":
            return f"What does order {shop.number} cost in all, in dollars? {alone}", {
                "number": bill
            }
        case "worth":
            worth = sum(shop.prices[name] * shop.stock[name] for name in chosen)
            asked = (
                f"All pieces in stock of {each} and {chosen[-1]}: what are they worth together, in "
                f"dollars, at their prices? {alone}"
            )
            return asked, {"number": worth}
        case _:
            lowest = min(chosen, key=lambda name: shop.prices[name])
            asked = f"Which costs least: {each} or {chosen[-1]}?"
            return f"{asked} {_ASK.format(what='its name')}", {"em": lowest}


class Priced(TypedDict):
    """What the tool `price` gives."""

    item: str
    price: int


class Stocked(TypedDict):
    """What the tool `stock` gives."""

    item: str
    pieces: int


class Ordered(TypedDict):
    """What the tool `order` gives."""

    order: int
    items: dict[str, int]


def goods_tools(shop: Shop) -> tuple[Tool, ...]:
    """The tools of a shop: one look-up for one thing."""

    @tool(effect="read")
    def price(item: str) -> Priced:
        """The price of one piece of an item, in dollars.

        Args:
            item: Its name, in the singular.
        """
        return {"item": item, "price": _price_of(shop.prices, item)}

    @tool(effect="read")
    def stock(item: str) -> Stocked:
        """How many pieces of an item are in stock.

        Args:
            item: Its name, in the singular.
        """
        return {"item": item, "pieces": _price_of(shop.stock, item)}

    @tool(effect="read")
    def order(number: int) -> Ordered:
        """What was ordered: items, and how many pieces of each.

        Args:
            number: The number of the order.
        """
        if number != shop.number:
            raise ValueError(f"there is no order {number}")
        return {"order": number, "items": dict(shop.order)}

    return price, stock, order, calc()


def _price_of(among: Mapping[str, int], item: str) -> int:
    name = item.strip().lower()
    if name not in among:
        raise ValueError(f"there is no {item!r}: there are {', '.join(sorted(among))}")
    return among[name]
