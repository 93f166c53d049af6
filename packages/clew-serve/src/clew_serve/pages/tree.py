"""The page of a tree of runs: a run with its sub-runs, and those of a strategy."""

from typing import Final

from markupsafe import Markup
from starlette.responses import HTMLResponse

from clew_serve.api import trees
from clew_serve.endpoints import Endpoint, Inquiry
from clew_serve.pages.rendering import fragment, page


async def show(inquiry: Inquiry) -> HTMLResponse:
    """The tree that a run is in."""
    root = await trees.get(inquiry)
    run_id = inquiry.path["run"]
    return page(inquiry, "tree.html", run_id=run_id, drawn=drawn_tree(root, run_id))


def drawn_tree(root: trees.TreeRun, run_id: str = "") -> Markup:
    """A tree as HTML: lists in lists, with the run of this id marked."""
    return fragment("tree_content.html", root=root, run_id=run_id)


TREE: Final = Endpoint(
    method="GET", path="/runs/{run:path}/tree", role="look", handler=show, gives="text/html",
    about="The page of a run with its sub-runs.",
)  # fmt: skip
