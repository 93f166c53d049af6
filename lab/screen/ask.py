"""Ask a screen about the requests of a half, one after the other."""

import sys

from clew import HarmfulRequests
from screen.requests import Half, half, pleading
from screen.table import Asked


async def asked(screen: HarmfulRequests, which: Half) -> list[Asked]:
    """What the model says of each request of a half, then of those with a plea."""
    outcomes: list[Asked] = []
    for request, plea in [*((each, "") for each in half(which)), *pleading(which)]:
        screened = await screen(f"{request.text}{plea}")
        judged = not screened.why.startswith("not judged")
        refused = screened.verdict is not None
        outcomes.append(Asked(request, bool(plea), refused, judged, screened.usage))
        print(f"{len(outcomes)} asked", file=sys.stderr)
    return outcomes
