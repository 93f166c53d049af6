"""The page of an evaluation: its figures, each trial a click from its run, two configurations."""

from typing import Any, Final
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.responses import HTMLResponse

from clew_serve.api import evaluation
from clew_serve.api.evaluation import EvaluationPage, EvaluationQuery
from clew_serve.endpoints import Endpoint, Inquiry
from clew_serve.pages.rendering import fragment, page


async def show(inquiry: Inquiry) -> HTMLResponse:
    """The evaluation in the store."""
    query: EvaluationQuery = inquiry.query
    drawn = drawn_evaluation(await evaluation.get(inquiry), query)
    return page(inquiry, "evaluation.html", drawn=drawn)


def drawn_evaluation(seen: EvaluationPage, query: EvaluationQuery) -> Markup:
    """An evaluation as HTML."""
    return fragment("evaluation_content.html", seen=seen, query=query, next=_next(seen, query))


def _next(seen: EvaluationPage, query: EvaluationQuery) -> str:
    """The parameters of the next page; "" on the last."""
    if not seen.after:
        return ""
    asked: dict[str, Any] = {name: getattr(query, name) for name in query.__struct_fields__}
    return urlencode({**asked, "after": seen.after})


EVALUATION: Final = Endpoint(
    method="GET", path="/evaluation", role="admin", handler=show, query=EvaluationQuery,
    gives="text/html", about="The page of the evaluation in the store.",
)  # fmt: skip
