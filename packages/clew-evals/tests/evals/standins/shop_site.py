"""A stand-in for WebShop's server: its addresses, sessions and redirects, over a real socket."""

from ast import literal_eval
from urllib.parse import parse_qs, quote, unquote

from tests.evals.standins import shop_pages as pages
from tests.web.site import Site, SiteAnswer, Was, moved, page


class ShopSite(Site):
    """Takes the goal of a session from its name, as WebShop does: `…fixed_1` is goal 1."""

    def __init__(self) -> None:
        super().__init__({})

    def answer(self, was: Was) -> SiteAnswer | None:
        self.asked.append(was)
        kind, *rest = [unquote(part) for part in was.path.strip("/").split("/")]
        if kind not in {"search_results", "item_page", "item_sub_page", "done"}:
            return self._first(kind, was)
        session, *rest = rest
        goal = int(session.split("_")[-1])
        text, home = pages.GOALS[goal][0], f"/{session}"
        if kind == "search_results":
            words, _ = rest
            base = f"/item_page/{session}"
            return page(
                pages.results_page(
                    base, home, text, pages.matching_products(" ".join(literal_eval(words)))
                )
            )
        asin, *rest = rest
        one = next(product for product in pages.PRODUCTS if product.asin == asin)
        base = f"/item_page/{session}/{asin}"
        if kind == "done":
            return page(pages.done_page(pages.paid(goal, asin, literal_eval(rest[0]))))
        if rest and rest[0] == "sub":
            return page(pages.sub_page(home, base, text, pages.SUBPAGES[rest[1]]))
        chosen = literal_eval(rest[0]) if rest else {}
        done = f"/done/{session}/{asin}/{quote(repr(chosen))}"
        return page(pages.item_page(base, home, home, done, text, one, chosen))

    def _first(self, session: str, was: Was) -> SiteAnswer:
        if "fixed" not in session or int(session.rsplit("_", maxsplit=1)[-1]) >= len(pages.GOALS):
            return page("<p>Internal Server Error</p>", 500)
        words = parse_qs(was.body.decode()).get("search_query")
        if was.method == "POST" and words:
            listed = quote(repr(words[0].lower().split(" ")))
            return moved(f"/search_results/{session}/{listed}/1")
        goal = int(session.rsplit("_", maxsplit=1)[-1])
        return page(pages.first_page(f"/{session}", pages.GOALS[goal][0]))
