"""What search tools give: results in one shape, with ids that the same passage always has."""

import base64
import hashlib
import html
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from clew import Evidence, Observation
from clew.interfaces import Json
from clew.support.short_text import one_line
from clew_web.host_limits import share

WEAK: Final = 0.5
"""A score below it is marked as weak."""

LONGEST: Final = 1_200
"""Characters of a snippet."""

_TITLE: Final = 200
_ID: Final = 5
_TAG: Final = re.compile(r"<(?:/?[a-zA-Z][^<>]{0,200}|!--.{0,200}?--)>", re.DOTALL)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2060\ufeff]")
_TRACKS: Final = re.compile(r"utm_\w+|gclid|fbclid|msclkid|spm", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Hit:
    """A search result. `score` is None if its source gives none in [0, 1].

    `offset` is where `snippet` begins in the text of the page, in characters, if that is known.
    """

    title: str
    url: str
    snippet: str
    score: float | None = None
    offset: int = 0


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A result as shown, cited by its `doc_id`."""

    doc_id: str
    score: float
    title: str
    snippet: str
    url: str
    offset: int = 0


def plain(text: object) -> str:
    """Text of a source on one line, without markup; "" where it is no text."""
    if not isinstance(text, str):
        return ""
    plain_text = html.unescape(_TAG.sub("", text)) if "<" in text or "&" in text else text
    return one_line(_CONTROL.sub(" ", plain_text))


def pieces(prefix: str, query: str, hits: Iterable[Hit]) -> list[SearchHit]:
    """The hits with ids and scores, each once, in their order; those that are no pages left out."""
    unique: dict[str, SearchHit] = {}
    for hit in hits:
        url = clean_text(hit.url)
        if url and not _is_page(url):
            continue
        title, snippet = clean_text(hit.title)[:_TITLE], shortened(clean_text(hit.snippet))
        scored = hit.score is not None and math.isfinite(hit.score)
        score = float(hit.score or 0.0) if scored else share(query, f"{title} {snippet}")
        unique.setdefault(
            same_page(url or title),
            SearchHit(
                doc_id(prefix, url or title, snippet),
                round(min(1.0, max(0.0, score)), 3),
                title,
                snippet,
                url,
                hit.offset,
            ),
        )
    return list(unique.values())


def clean_text(text: str) -> str:
    """Text that a record can hold, of whatever kind of text it is; half characters are marked."""
    return text.encode("utf-8", "replace").decode()


def _is_page(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port or a bracket that is none
        return False


def doc_id(prefix: str, page: str, passage: str) -> str:
    """The id of a passage: the same for the same text of the same page, whoever asks and when.

    Its middle tells the page and its end the passage, so that ids of one page begin alike.
    """
    return f"{prefix}_{_short(same_page(page))}_{_short(passage)}"


def _short(text: str) -> str:
    digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=5).digest()
    return base64.b32encode(digest).decode().lower()[:_ID]


def same_page(url: str) -> str:
    """An address in the form in which two that lead to the same page are equal."""
    parts = urlsplit(url.strip())
    host = (parts.hostname or "").removeprefix("www.").replace(".m.wikipedia.", ".wikipedia.")
    asked = [
        (name, value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
        if not _TRACKS.fullmatch(name)
    ]
    number = f":{parts.port}" if parts.port not in {None, 80, 443} else ""
    question = f"?{urlencode(sorted(asked))}" if asked else ""
    return f"{host}{number}{unquote(parts.path).rstrip('/')}{question}"


def shortened(text: str, max_chars: int = LONGEST) -> str:
    """The text, cut behind a sentence or a word where it is too long."""
    if len(text) <= max_chars:
        return text
    window = text[:max_chars]
    sentences = [match.end() for match in re.finditer(r"[.!?](?=\s)|[。！？]", window)]
    if sentences and sentences[-1] > max_chars // 2:
        return window[: sentences[-1]]
    return window.rpartition(" ")[0] or window


def observation(hits: Sequence[SearchHit], note: str = "", **more: Json) -> Observation:
    """What a search tool returns: `results`, a note where one is needed, and their evidence."""
    weak = [piece.doc_id for piece in hits if piece.score < WEAK]
    if weak:
        text = (
            f"below {WEAK} and so weak: {', '.join(weak)}. Read the page, search with other words, "
            "or say that it is not certain"
        )
        note = f"{note}. {text}" if note else text
    content: dict[str, Json] = {"results": [as_json(piece) for piece in hits], **more}
    if note:
        content["note"] = note
    return Observation(
        content=content,
        effect="read",
        trust="untrusted",
        evidence=tuple(
            Evidence(piece.doc_id, piece.snippet, piece.score, piece.url, piece.offset)
            for piece in hits
        ),
    )


def as_json(piece: SearchHit) -> dict[str, Json]:
    """A piece as the model reads it."""
    return {
        "doc_id": piece.doc_id,
        "score": piece.score,
        "title": piece.title,
        "snippet": piece.snippet,
        "url": piece.url,
    }
