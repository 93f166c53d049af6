"""The pages that a browser shows: endpoints of the same table, mounted at `/`."""

from typing import Final

from clew_serve.endpoints import Endpoint
from clew_serve.pages.assets import ASSETS
from clew_serve.pages.comparison import COMPARISON
from clew_serve.pages.evaluation import EVALUATION
from clew_serve.pages.figures import FIGURES
from clew_serve.pages.inbox import INBOX_PAGES
from clew_serve.pages.prompt import PROMPT
from clew_serve.pages.run import RUN_PAGES
from clew_serve.pages.runs import RUNS
from clew_serve.pages.steering import STEERING_PAGES
from clew_serve.pages.tree import TREE

PAGES: Final[tuple[Endpoint, ...]] = (
    RUNS, EVALUATION, *ASSETS, *INBOX_PAGES, PROMPT, FIGURES, TREE, COMPARISON,
    *STEERING_PAGES, *RUN_PAGES,
)  # fmt: skip
"""All pages. Each is an endpoint, with a role, like those of the API."""
