"""Tools of the extra `web` on the command line: named, used, told of where the extra is missing."""

import os
import re
from pathlib import Path

import pytest

from clew.agent_files import Spec, make_agent
from clew.support.extras import install
from clew.support.wings import TOOLS, find, names
from clew_testing.servers.openai_server import OpenAIServer, Say
from clew_web import KeepPlace
from tests.cli.shell import SOURCE, clew
from tests.web.site import Site, as_json, page

PAGE = (
    "<html><head><title>Lights</title></head><body><main><h1>Skerryvore</h1>"
    "<p>Its engineer was Alan Stevenson, and it was lit in 1844 after six years.</p></main></body>"
)


def test_a_tool_is_called_as_the_table_names_it() -> None:
    assert [find(TOOLS, name)().name for name in names(TOOLS)] == names(TOOLS)


def test_tools_are_listed_and_lookup_brings_its_guard() -> None:
    done = clew("tools", "list", "--tools", "wiki_search,lookup", "--json")
    assert [(tool["name"], tool["effect"], tool["trust"]) for tool in done.document] == [
        ("wiki_search", "read", "untrusted"),
        ("lookup", "read", "untrusted"),
    ]
    agent = make_agent(Spec(model="offline", tools=("search", "lookup")))
    assert list(agent.guards) == [KeepPlace()]


def test_a_search_and_a_page_are_had_over_http() -> None:
    with Site({}) as site:
        hit = {"url": f"{site.url}/light", "title": "Skerryvore", "content": "A lighthouse."}
        document = as_json({"results": [hit], "unresponsive_engines": []})
        site.routes({"/search": document, "/light": page(PAGE)})
        script = [
            Say(None, [("web_search", '{"query": "skerryvore lighthouse"}')]),
            Say(None, [("fetch_page", f'{{"url": "{site.url}/light"}}')]),
            Say("Alan Stevenson."),
        ]
        with OpenAIServer(script) as server:
            env = {
                "OPENAI_BASE_URL": server.base_url,
                "OPENAI_API_KEY": "sk-test",
                "SEARXNG_BASE_URL": site.url,
                "CLEW_WEB_HOSTS": site.host,
                "CLEW_WEB_CONTACT": "me@example.org",
            }
            words = ("--model", "openai:gpt-4.1-mini", "--tools", "web_search,fetch_page")
            done = clew("ask", "Who built Skerryvore?", *words, env=env)
    assert (done.code, "Answer: Alan Stevenson." in done.out) == (0, True)
    assert re.search(r"Observation 1\.1: .*searx_\w{5}_\w{5}", done.out)
    assert re.search(r"Observation 2\.1: .*page_\w{5}_\w{5}.*lit in 1844", done.out, re.DOTALL)
    assert {was.headers["user-agent"] for was in site.asked} == {"clew (me@example.org)"}
    shown = clew("show", "last", "--json").document
    cited = [one for entry in shown["entries"] for one in entry.get("evidence", [])]
    assert len({piece["doc_id"] for piece in cited}) == 2
    assert clew("replay", "last").code == 0


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """An environment in which a library of the extra cannot be imported."""
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['trafilatura'] = None\n")
    return {"PYTHONPATH": os.pathsep.join((str(tmp_path), SOURCE))}


def test_a_missing_extra_is_told_with_what_to_do(bare: dict[str, str]) -> None:
    asked = clew("ask", "Who?", "--model", "offline", "--tools", "wiki_search", env=bare)
    assert asked.code == 2
    assert install("", "clew-web") in asked.err
    listed = clew("tools", "list", env=bare)
    assert (listed.code, "calc(" in listed.out, "wiki_search(" in listed.out) == (0, True, False)
    assert f"Not installed ({install('', 'clew-web')}): baidu_search, " in listed.err
