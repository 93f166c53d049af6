"""Texts for one line of a listing, a message or a prompt: blanks squeezed, and cut with "…"."""


def one_line(text: str, max_chars: int | None = None) -> str:
    """The text with one space for each run of blanks and line ends, cut to `max_chars`."""
    line = " ".join(text.split())
    return line if max_chars is None else cut(line, max_chars)


def counted(number: int, word: str, plural: str = "") -> str:
    """A number with what it counts: "1 entry", "2,000 entries"; most words get an s."""
    return f"{number:,} {word if number == 1 else plural or f'{word}s'}"


def cut(text: str, max_chars: int) -> str:
    """The text; of a longer one its beginning, which ends in "…" as the last character."""
    return text if len(text) <= max_chars else f"{text[: max_chars - 1]}…"
