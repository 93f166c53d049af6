"""Whether a site lets programs read a page: its robots.txt (RFC 9309)."""

from urllib.parse import urlsplit

from protego import Protego

from clew_web.asking import Answer, Request
from clew_web.reach import PRODUCT, Reach
from clew_web.trouble import Trouble


class Robots:
    """The rules of the sites that one request comes by, each read once."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._rules: dict[str, Protego] = {}

    async def may_go(self, url: str) -> None:
        """Raise `Trouble` where the site wants programs to stay away."""
        parts = urlsplit(url)
        site = f"{parts.scheme}://{parts.netloc}"
        if site not in self._rules:
            answer = await self._reach.ask(Request(f"{site}/robots.txt", types=()))
            self._rules[site] = _rules(parts.netloc, answer)
        if not self._rules[site].can_fetch(url, PRODUCT):
            text = f"{parts.netloc} asks programs not to read this page: try another"
            raise Trouble("robots", text)


def _rules(site: str, answer: Answer) -> Protego:
    """The rules. Where the site has none all may be read, and nothing while it fails."""
    if answer.status == 429 or answer.status >= 500:
        text = f"{site} cannot say now what programs may read: try another page, or later"
        raise Trouble("robots", text)
    if not 200 <= answer.status < 300:
        return Protego.parse("")
    return Protego.parse(answer.body.decode("utf-8", "replace"))
