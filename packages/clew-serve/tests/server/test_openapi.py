"""Requests made of the API's own description: none fails the server, and answers are as described.

schemathesis makes them, right ones and wrong ones, for every operation of the document.
"""

from functools import partial
from typing import Any, Final

import anyio.to_thread
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed
from hypothesis import settings as hypothesis_settings
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.patience import PATIENCE
from tests.server.site import ROOT, Letters, greeter, site, writer

CHECKS: Final[list[Any]] = [
    not_a_server_error,
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
]
SEED: Final = 7


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """What uvicorn runs on."""
    return "asyncio"


def check(url: str, examples: int) -> list[str]:
    """Ask every operation so many things; what was wrong, a line for each operation."""
    headers = {"authorization": f"Bearer {ROOT.token}"}
    schema = schemathesis.openapi.from_url(f"{url}/api/openapi.json", headers=headers)
    complaints: list[str] = []
    asked = 0
    for result in schema.get_all_operations():
        assert isinstance(result, Ok)
        operation = result.ok()

        def ask(case: Any) -> None:
            response = case.call(base_url=url, headers=headers, timeout=PATIENCE)
            case.validate_response(response, checks=CHECKS)

        bounded = hypothesis_settings(
            max_examples=examples,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
        )
        asking = seed(SEED)(bounded(given(case=operation.as_strategy())(ask)))
        try:
            asking()
        except (Exception, BaseExceptionGroup) as error:  # noqa: BLE001 - all that is wrong is told at once
            complaints.append(f"{operation.label}: {str(error)[:1500]}")
        asked += 1
    assert asked > 20
    return complaints


@pytest.mark.parametrize(
    "examples",
    [3, pytest.param(30, marks=pytest.mark.slow)],
)
async def test_requests_of_the_description_are_answered_as_it_says(examples: int) -> None:
    agents = {"greeter": greeter(), "writer": writer(Letters())}
    async with site(agents=agents) as here:
        wrong = await anyio.to_thread.run_sync(partial(check, here.url, examples))
    assert wrong == [], "\n\n".join(wrong)
