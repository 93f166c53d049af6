"""The page of a report: whole, alone, and deaf to whatever stands in answers and traces."""

import re
from html.parser import HTMLParser
from typing import Any

import msgspec
import pytest

from clew_evals.clusters import clusters, example_runs
from clew_evals.measures import paired
from clew_evals.outcome import About, GoldScore, Outcome
from clew_evals.page import LISTED, page
from clew_evals.plots import plots
from clew_evals.tables import tables
from tests.evals.seeded import about, outcomes

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src="http://example.org/x" onerror=alert(1)>',
    "</bdi></td></tr></table></details></section><h1>Passed</h1>",
    "{{ 7 * 7 }}{% raw %}",
    "<svg/onload=alert(1)>&lt;b&gt;</text></svg>",
    "\x00\x1b[31mred\u202egnp.exe\u2066",
    "$\\frac{1}{2}$ 漢字 🙂",
)

TAGS = {
    "html", "head", "meta", "title", "style", "body", "header", "main", "nav", "section", "h1",
    "h2", "p", "a", "ul", "li", "dl", "dt", "dd", "div", "span", "bdi", "strong", "code", "pre",
    "figure", "figcaption", "table", "thead", "tbody", "tr", "th", "td", "details", "summary",
    "svg", "g", "defs", "path", "use", "text", "clippath", "rect",
}  # fmt: skip


class Parsed(HTMLParser):
    """What a browser would make of a page, as far as the tests ask."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.tables: list[list[list[str]]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in {"meta", "use"}:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in {"td", "th"}:
            self.tables[-1][-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        if tag != "use":
            assert self.open.pop() == tag, f"</{tag}> closes another"

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if {"td", "th"} & set(self.open) and "span" not in self.open:
            self.tables[-1][-1][-1] += data

    def of(self, attribute: str) -> list[str]:
        return [value for _, name, value in self.attributes if name == attribute]


def made(of: About, rows: list[Outcome], **traces: Any) -> str:
    results = {
        run_id: [("Thought 1", "I think."), ("Answer", "42")]
        for run_id in example_runs(clusters(rows))
    }
    return page(rows, of, tables(rows, of), traces.get("traces", results), "my results.sqlite")


@pytest.fixture(scope="module")
def complete_page() -> str:
    of = about()
    return made(of, paired(outcomes(of)))


def alone(text: str) -> Parsed:
    """Assert that the page refers to nothing outside, runs nothing, and fits together."""
    parsed = Parsed(text)
    assert parsed.open == []
    assert (
        set(parsed.tags) & {"script", "link", "img", "iframe", "object", "embed", "base"} == set()
    )
    assert [name for _, name, _ in parsed.attributes if name.startswith("on")] == []
    ids = parsed.of("id")
    assert len(ids) == len(set(ids))
    for name in ("href", "src", "action", "data", "srcset", "poster"):
        for value in parsed.of(name):
            assert value.startswith("#")
            assert value[1:] in ids
    styles = "".join(re.findall(r"<style>.*?</style>", text, re.DOTALL))
    outside = re.findall(r"url\((?!#)[^)]*\)|@import", styles + " ".join(parsed.of("style")))
    assert outside == []
    assert [value for value in parsed.of("clip-path") if not value.startswith("url(#")] == []
    return parsed


def test_the_page_is_alone_and_says_what_the_tables_say(complete_page: str) -> None:
    of = about()
    rows = paired(outcomes(of))
    text, parser = complete_page, alone(complete_page)
    assert "default-src 'none'" in " ".join(parser.of("content"))
    assert "width=device-width, initial-scale=1" in parser.of("content")
    assert "prefers-color-scheme: dark" in text
    assert "http" not in text.replace("http-equiv", "")
    for table, shown in zip(tables(rows, of), parser.tables, strict=False):
        assert shown[0] == [column.name for column in table.columns]
        assert [[cell.strip() for cell in row] for row in shown[1:]] == table.formatted_rows()


def test_a_reader_who_sees_nothing_gets_headings_and_words(complete_page: str) -> None:
    parsed = alone(complete_page)
    assert parsed.tags.count("h1") == 1
    assert {"main", "header", "nav", "figcaption"} <= set(parsed.tags)
    heads = [value for tag, name, value in parsed.attributes if (tag, name) == ("th", "scope")]
    assert len(heads) == parsed.tags.count("th")
    drawn = [words for words in parsed.of("aria-label") if "accuracy" in words.lower()]
    assert len(drawn) == 3
    assert any("Highest: no planner with offline, 68.8%" in words for words in drawn)
    assert parsed.tags.count("svg") == parsed.of("role").count("img") == 4


def test_failures_lead_to_their_traces_and_the_rest_to_a_command() -> None:
    of = about(60, ("a",), ("simulated:weak",), seeds=(0,), repetitions=4)
    rows = [
        msgspec.structs.replace(one, passed=False, right=False, kind="fault", pair="")
        for one in outcomes(of)
    ]
    parsed = alone(made(of, rows))
    links = [value for value in parsed.of("href") if value.startswith("#trace-")]
    assert links == ["#trace-1", "#trace-2", "#trace-3"]
    told = "".join(parsed.texts)
    commands = re.findall(
        r"clew show a/simulated:weak/case-\d+/0/\d --store 'my results.sqlite'", told
    )
    assert len(commands) == LISTED
    assert "190 more" in told


def test_what_is_simulated_is_marked(complete_page: str) -> None:
    names = complete_page.count("<bdi>simulated:weak</bdi>")
    assert names > 20
    assert names == complete_page.count('<span class="simulated">simulated</span>')
    assert "Not all of this is of language models." in complete_page
    real = about(3, ("a",), ("m",))
    assert "imulated" not in re.sub(
        "<style>.*</style>", "", made(real, outcomes(real)), flags=re.DOTALL
    )


def test_texts_of_others_stay_texts() -> None:
    of = about(len(HOSTILE), HOSTILE, ("simulated:<b>",), seeds=(0,), repetitions=1)
    cases = [
        msgspec.structs.replace(case, id=text, question=text, category=text)
        for case, text in zip(of.cases, HOSTILE, strict=True)
    ]
    every = "".join(HOSTILE)
    of = msgspec.structs.replace(of, cases=tuple(cases), name=every, matrix=every, judge=every)
    rows = [
        msgspec.structs.replace(
            one, kind="wrong answer", passed=False, right=False, answer=one.case, pair="",
            reason=one.case, run_id=one.case + one.run_id,
            marks=(GoldScore(one.case, False, 0.0, one.case),),
        )
        for one in outcomes(of)
    ]  # fmt: skip
    traces = {run_id: [(every, every * 90)] for run_id in example_runs(clusters(rows))}
    text = made(of, rows, traces=traces)
    parsed = alone(text)
    assert set(parsed.tags) <= TAGS
    told = "".join(parsed.texts)
    assert "more characters" in told
    for hostile in HOSTILE[:5]:
        assert told.count(hostile) > 100
    assert "\\u202egnp.exe" in told
    assert not re.search("[\x00\x1b\u202e\u2066]", text)


def test_names_of_any_kind_and_length_can_be_drawn() -> None:
    names = ("x" * 300, "votes " * 30, "", "$a$")
    of = about(4, names, ("m",), seeds=(0,), repetitions=1)
    drawn = plots(outcomes(of), of)
    assert [plot.name for plot in drawn] == [
        "plot-accuracy",
        "plot-steps",
        "plot-cost",
        "plot-kinds",
    ]
    assert "$a$" in drawn[0].svg
    assert plots([], of) == ()


def test_where_all_passed_there_are_no_failures() -> None:
    of = about(4, ("a",), ("m",), seeds=(0,), repetitions=1)
    rows = outcomes(of, a=1.0)
    assert [plot.name for plot in plots(rows, of)] == ["plot-accuracy"]
    assert "None: every trial passed." in made(of, rows)
