"""Solutions of the tasks about a web site of 47 pages, which is browsed five lines at a time."""

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from benchmarks.code.solution import Calls, Solution, Wide, call, first

CRAWL: Final = """\
import re

def read(url):
    text = click_url(url=url)
    while True:
        more = scroll_down()
        if "bottom" in more:
            return text
        text += more

def below(top):
    pages, waiting = {{}}, [top]
    while waiting:
        url = waiting.pop(0)
        if url not in pages:
            pages[url] = read(url)
            waiting += re.findall(r"Clickable '([^']+)'", pages[url])
    return pages

pages = below({top!r})
for url, text in pages.items():
    if "not found" in text{wanted}:
        print(url, text)
"""
"""Written after the first page was seen: it shows how links look, and where they lead."""

AGAIN: Final = """\
pages |= below("/team/customer-support")
for url, text in pages.items():
    if {wanted}:
        print(url, text)
"""
"""Written after a link was seen that leads nowhere."""

LOOK: Final = "print(view())\n"
SUPPORT: Final = "/team/customer-support"


def _links(text: str) -> list[str]:
    return re.findall(r"Clickable '([^']+)'", text)


def _people(wide: Wide, good: Callable[[str], bool]) -> Calls:
    """The page of the department that is wanted."""
    yield [call("view")]
    (teams,) = yield [call("click_url", url="/team")]
    _, page = yield from first([call("click_url", url=url) for url in _links(teams)], wide, good)
    return page


def person(task_name: str, right: Any) -> Solution:
    """Something about a person whose department has to be found."""
    what, _, who = task_name.partition("_of_")
    path = f"/{who}'"

    def calls(wide: Wide) -> Calls:
        page = yield from _people(wide, lambda text: path in text)
        if what == "department":
            return _matched(page)
        url = next(one for one in _links(page) if one.endswith(f"/{who}"))
        (text,) = yield [call("click_url", url=url)]
        return _matched(text)

    def _matched(printed: str) -> Any:
        if what == "department":
            return re.findall(r"(\w[\w ]*) Team:|of (\w[\w ]*) Department", printed)[0][0] or None
        label = {"email": "Email", "phone_number": "Phone", "expertise": "Expertise"}[what]
        matches = re.findall(rf"{label}: (.*)", printed)
        return matches[-1].strip()

    def read(printed: str) -> Any:
        if what == "department":
            return re.findall(r"of (\w[\w ]*) Department", printed)[-1]
        return _matched(printed)

    wanted = f' or url.endswith("/{who}")'
    return Solution((LOOK, CRAWL.format(top="/team", wanted=wanted)), calls, read)


def shopping(names: Sequence[str], factor: float) -> Solution:
    """Prices of things, added up."""
    paths = [
        f"/products/{name.split(maxsplit=1)[1].lower().replace(' ', '_')}/"
        f"{name.lower().replace(' ', '_')}"
        for name in names
    ]

    def price(text: str) -> float:
        return float(re.findall(r"Price: .*?\$([0-9.]+)(?!.*\$)", text)[-1])

    def calls(wide: Wide) -> Calls:
        yield [call("view")]
        yield [call("click_url", url="/products")]
        sections = dict.fromkeys(path.rpartition("/")[0] for path in paths)
        listed = yield [call("click_url", url=url) for url in sections]
        for url, text in zip(sections, listed, strict=True):
            if any(path.startswith(url) and path not in text for path in paths):
                yield [call("click_url", url=url), call("scroll_down")]
        pages = yield [call("click_url", url=path) for path in paths]
        return round(sum(map(price, pages)) * factor, 6)

    def read(printed: str) -> Any:
        return round(sum(price(one) for one in re.split(r"(?=/products/\w+/\w+ )", printed)[1:])
                     * factor, 6)  # fmt: skip

    wanted = f" or url in {paths!r}"
    return Solution((LOOK, CRAWL.format(top="/products", wanted=wanted)), calls, read)


def head_count(department: str) -> Solution:
    """How many people a department has."""
    support = department == "customer_support"

    def calls(wide: Wide) -> Calls:
        yield [call("view")]
        (teams,) = yield [call("click_url", url="/team")]
        url = next(one for one in _links(teams) if one.endswith(department))
        (text,) = yield [call("click_url", url=url)]
        if support:
            (text,) = yield [call("click_url", url=SUPPORT)]
        (more,) = yield [call("scroll_down")]
        return len({*_links(text), *_links(more)})

    def read(printed: str) -> Any:
        return len(set(_links(printed)))

    programs = [LOOK, CRAWL.format(top="/team", wanted=f' or url.endswith("/{department}")')]
    if support:
        programs.append(AGAIN.format(wanted=f"url == {SUPPORT!r}"))
    return Solution(tuple(programs), calls, read)


def caller(number: str) -> Solution:
    """Whose telephone number it is: all four are of the department with the dead link."""

    def calls(wide: Wide) -> Calls:
        yield [call("view")]
        (teams,) = yield [call("click_url", url="/team")]
        listed = yield [call("click_url", url=url) for url in _links(teams)]
        people = [url for text in listed for url in _links(text)]
        (more,) = yield [call("click_url", url=SUPPORT)]
        (rest,) = yield [call("scroll_down")]
        people += [*_links(more), *_links(rest)]
        batch = [call("click_url", url=url) for url in dict.fromkeys(people)]
        _, page = yield from first(batch, wide, lambda text: f"Phone: {number}" in text)
        return _name(page)

    programs = (
        LOOK,
        CRAWL.format(top="/team", wanted=f" or {number!r} in text"),
        AGAIN.format(wanted=f"{number!r} in text"),
    )
    return Solution(programs, calls, _name)


def _name(text: str) -> Any:
    return re.findall(r"(\w+ \w+) of ", text)[-1]


def web(name: str, asked: str, right: Any) -> Solution:
    """The solution of a task of the web site."""
    if name.startswith("people_in_"):
        return head_count(name.removeprefix("people_in_"))
    if name.startswith("match_phone"):
        return caller(asked.split(" is ")[1].split("?", maxsplit=1)[0])
    if name.startswith("price_of_"):
        return shopping([asked.split(" of ")[1].split(".", maxsplit=1)[0]], 1)
    if name.startswith("total_price"):
        names = asked.split("[")[1].split("]", maxsplit=1)[0].split(", ")
        return shopping(names, 0.9 if "discount" in name else 1)
    return person(name, right)
