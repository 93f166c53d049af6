"""Tools that search and read the web.

A source of results is a `Source`, and `search_tool` makes a tool of it. All of them connect through
a `Reach`, which reaches public addresses only.
"""

from clew import Tool
from clew_web.access_policy import Reach, reach_of_environment
from clew_web.baidu import baidu
from clew_web.cascade import usual_sources, web_search
from clew_web.engines import brave, searxng, serper, tavily
from clew_web.errors import Kind, WebToolError
from clew_web.host_limits import share
from clew_web.page import fetch_page
from clew_web.paper import Find, KeepPlace, paper_tools
from clew_web.request import Answer, WebRequest
from clew_web.results import Hit, SearchHit
from clew_web.source import Query, Source, search, search_tool
from clew_web.wiki import Article, wikipedia

__all__ = [
    "Answer",
    "Article",
    "Find",
    "Hit",
    "KeepPlace",
    "Kind",
    "Query",
    "Reach",
    "SearchHit",
    "Source",
    "WebRequest",
    "WebToolError",
    "baidu",
    "baidu_search",
    "brave",
    "brave_search",
    "fetch_page",
    "paper_lookup",
    "paper_search",
    "paper_tools",
    "reach_of_environment",
    "search",
    "search_tool",
    "searxng",
    "searxng_search",
    "serper",
    "serper_search",
    "share",
    "tavily",
    "tavily_search",
    "usual_sources",
    "web_search",
    "wiki_search",
    "wikipedia",
]


def wiki_search(reach: Reach | None = None) -> Tool:
    """Searches Wikipedia, in English unless a call names another language."""
    return search_tool(wikipedia(), reach)


def serper_search(reach: Reach | None = None) -> Tool:
    """Searches with Google by serper.dev; the key is in SERPER_API_KEY."""
    return search_tool(serper(), reach)


def baidu_search(reach: Reach | None = None) -> Tool:
    """Searches with Baidu, unless it asks for a captcha."""
    return search_tool(baidu(), reach)


def brave_search(reach: Reach | None = None) -> Tool:
    """Searches with Brave; the key is in BRAVE_API_KEY."""
    return search_tool(brave(), reach)


def tavily_search(reach: Reach | None = None) -> Tool:
    """Searches with Tavily; the key is in TAVILY_API_KEY."""
    return search_tool(tavily(), reach)


def searxng_search(reach: Reach | None = None) -> Tool:
    """Searches with the SearXNG whose address is in SEARXNG_BASE_URL."""
    return search_tool(searxng(), reach)


def paper_search(reach: Reach | None = None) -> Tool:
    """The paper's `search`, over Wikipedia."""
    return paper_tools(reach=reach)[0]


def paper_lookup(reach: Reach | None = None) -> Tool:
    """The paper's `lookup`, in the page found last."""
    return paper_tools(reach=reach)[1]
