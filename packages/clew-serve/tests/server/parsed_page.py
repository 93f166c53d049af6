"""A page as a browser takes it apart: its elements with their attributes, and its text."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

from typing_extensions import override

VOID = frozenset({"meta", "link", "input", "img", "br", "hr"})
ADDRESSES = ("href", "src", "action", "hx-get", "hx-sse:connect")


@dataclass
class Element:
    """An element: its attributes, the names of those around it, and all text in it."""

    tag: str
    attributes: dict[str, str]
    within: tuple[str, ...]
    text: str = ""

    @property
    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()


@dataclass
class Page:
    """All elements in their order."""

    elements: list[Element] = field(default_factory=list[Element])

    def having(self, name: str) -> list[Element]:
        """The elements of this class."""
        return [each for each in self.elements if name in each.classes]

    def by_id(self, name: str) -> Element:
        (element,) = [each for each in self.elements if each.attributes.get("id") == name]
        return element

    def tags(self, name: str) -> list[Element]:
        return [each for each in self.elements if each.tag == name]

    @property
    def addresses(self) -> list[str]:
        return [
            each.attributes[name]
            for each in self.elements
            for name in ADDRESSES
            if name in each.attributes
        ]


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self.open: list[Element] = []

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len({*names}), f"an attribute twice in {tag}"
        within = tuple(each.tag for each in self.open)
        element = Element(tag, {name: value or "" for name, value in attrs}, within)
        self.page.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    @override
    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> ends nothing"
        assert self.open[-1].tag == tag, f"</{tag}> ends a {self.open[-1].tag}"
        self.open.pop()

    @override
    def handle_data(self, data: str) -> None:
        for each in self.open:
            each.text += data


def parsed(text: str) -> Page:
    """The page, all of whose elements end where they should."""
    parser = _Parser()
    parser.feed(text)
    parser.close()
    assert parser.open == [], "an element does not end"
    return parser.page
