"""A stand-in for WebShop's package: `WebAgentTextEnv` over a shared server object. No real shop."""

import re
from typing import Any

from tests.evals.standins.shop_pages import GOALS, PRODUCTS, matching_products, paid


class SimServer:
    """What the package loads once: products and goals."""

    loaded = 0

    def __init__(self, file_path: str, human_goals: bool, num_products: int | None) -> None:
        SimServer.loaded += 1
        if file_path and file_path != "products.json":
            raise FileNotFoundError(file_path)
        self.arguments = (human_goals, num_products)


class WebAgentTextEnv:
    """Text pages with `[SEP]`, actions in lower case, four values and no infos."""

    def __init__(
        self, observation_mode: str = "html", file_path: str = "", server: Any = None, **kwargs: Any
    ) -> None:
        assert observation_mode == "text"
        self.server = server or SimServer(
            file_path, kwargs.get("human_goals", False), kwargs.get("num_products")
        )
        self.reset()

    def reset(self, session: int | None = None, instruction_text: str | None = None) -> Any:
        self._goal = session or 0
        self._asin, self._options = "", dict[str, str]()
        self._page = ["WebShop", "Instruction:", GOALS[self._goal][0], "Search"]
        self._buttons = ["search"]
        return self._text(), None

    def get_available_actions(self) -> dict[str, Any]:
        return {"has_search_bar": "search" in self._buttons, "clickables": list(self._buttons)}

    def step(self, action: str) -> Any:
        match = re.match(r"(.+)\[(.+)\]", action)
        name, arg = match.groups() if match else (action, None)
        arg = arg.lower() if arg else arg
        reward, done = 0.0, False
        if name == "search" and arg and "search" in self._buttons:
            products = matching_products(arg)
            self._page = [f"{one.asin} {one.title}" for one in products]
            self._buttons = ["back to search", *(one.asin.lower() for one in products)]
        elif name == "click" and arg in self._buttons and arg != "search":
            reward, done = self._clicked(arg)
        return self._text(), reward, done, None

    def _clicked(self, arg: str) -> tuple[float, bool]:
        if arg == "buy now":
            return paid(self._goal, self._asin, self._options), True
        if arg == "back to search":
            self.reset(self._goal)
        for one in PRODUCTS:
            if one.asin.lower() == arg:
                self._asin, self._page = one.asin, [one.title, one.price]
                values = [value for group in one.options.values() for value in group]
                self._buttons = ["back to search", *values, "buy now"]
            for name, values in one.options.items():
                if one.asin == self._asin and arg in values:
                    self._options[name] = arg
        return 0.0, False

    def _text(self) -> str:
        return " [SEP] ".join(self._page)

    def close(self) -> None:
        pass
