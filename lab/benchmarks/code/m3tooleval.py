"""The 82 tasks of M3ToolEval, and their tools as tools of clew.

They are read from a checkout of xingyaoww/code-act (MIT), named by CLEW_CODE_ACT: nothing of it is
in this repository. Only its tasks are imported; two packages that it wants for a shell of its own
are left out.
"""

import contextlib
import importlib
import io
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from clew import ConfigError, Tool, tool
from clew.interfaces import Json

VARIABLE: Final = "CLEW_CODE_ACT"
WHERE: Final = "scripts/eval/m3tooleval"
LEFT_OUT: Final = {
    "tqdm": ("tqdm",),
    "IPython.core.interactiveshell": ("InteractiveShell",),
    "IPython.utils": ("io",),
}
"""What the tasks' modules import and do not use, as long as no shell is started."""


@dataclass(frozen=True)
class Task:
    """A task: its name, what is asked, what is right, and functions that are its tools."""

    name: str
    asked: str
    right: Any
    functions: Callable[[], Mapping[str, Callable[..., Any]]]

    @property
    def family(self) -> str:
        """The set that it belongs to."""
        return self.name.partition("/")[0]

    def accepts(self, answer: Json) -> bool:
        """Whether an answer is right; numbers may differ by rounding."""
        return _same(answer, self.right)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, int | float) and isinstance(other, int | float):
        return abs(one - other) < 0.01
    return bool(one == other)


def tasks() -> list[Task]:
    """All tasks. Raises `ConfigError` where there is no checkout."""
    folder = Path(os.environ.get(VARIABLE, "")) / WHERE
    if not os.environ.get(VARIABLE) or not folder.is_dir():
        raise ConfigError(
            f"set {VARIABLE} to a checkout of https://github.com/xingyaoww/code-act: its {WHERE}"
            " has the tasks"
        )
    with _imported(folder) as base:
        iterators = [one for iterator, _ in base.task_iterators for one in iterator]
    return [
        Task(one.name, one.instruction, one.expected_output, _functions(one)) for one in iterators
    ]


@contextlib.contextmanager
def _imported(folder: Path) -> Any:
    """The module that registers the tasks, which prints them as it is imported."""
    before = set(sys.modules)
    for name, values in LEFT_OUT.items():
        for end in range(1, name.count(".") + 2):
            part = ".".join(name.split(".")[:end])
            sys.modules.setdefault(part, ModuleType(part))
        for value in values:
            setattr(sys.modules[name], value, None)
    sys.path.insert(0, str(folder))
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            importlib.import_module("tasks")
        yield sys.modules["tasks.base"]
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            if name.partition(".")[0] in {"tasks", "tqdm", "IPython"}:
                del sys.modules[name]


def _functions(task: Any) -> Callable[[], Mapping[str, Callable[..., Any]]]:
    """The task's own functions; those of a browser are of a new one each time."""

    def made() -> Mapping[str, Callable[..., Any]]:
        results: dict[str, Callable[..., Any]] = {
            name: kind.function for name, kind in task.tools.items()
        }
        if "click_url" in results:
            old = results["click_url"].__self__  # type: ignore[attr-defined] # a method of a browser
            new = type(old)(pages=old.pages, default_page="/")
            results |= {name: getattr(new, name) for name in results if hasattr(new, name)}
        return results

    return made


def tools(functions: Mapping[str, Callable[..., Any]]) -> list[Tool]:
    """Tools of clew with the names of a task's functions, and arguments by name."""
    made = [*_texts(functions), *_trade(functions), *_travel(functions), *_browser(functions)]
    return [one for one in made if one.name in functions]


def _texts(do: Mapping[str, Callable[..., Any]]) -> list[Tool]:
    @tool(effect="pure")
    def convert_hex_to_ascii(hex_string: str) -> str:
        """Decode hexadecimal text."""
        return str(do["convert_hex_to_ascii"](hex_string))

    @tool(effect="pure")
    def reverse_string(s: str) -> str:
        """Reverse a text."""
        return str(do["reverse_string"](s))

    @tool(effect="pure")
    def caesar_decode(message: str, shift: int) -> str:
        """Shift letters back."""
        return str(do["caesar_decode"](message, shift))

    @tool(effect="pure")
    def string_length(s: str) -> int:
        """Count the characters of a text."""
        return int(do["string_length"](s))

    @tool(effect="pure")
    def count_nucleotides(dna_sequence: str) -> dict[str, int]:
        """Count each nucleotide."""
        return dict(do["count_nucleotides"](dna_sequence))

    @tool(effect="pure")
    def transcribe_dna_to_mrna(dna_sequence: str) -> str:
        """Transcribe DNA to mRNA."""
        return str(do["transcribe_dna_to_mrna"](dna_sequence))

    @tool(effect="pure")
    def translate_mrna_to_amino_acid(mrna_sequence: str) -> str:
        """Translate mRNA to amino acids, with `-` between them."""
        return str(do["translate_mrna_to_amino_acid"](mrna_sequence))

    @tool(effect="pure")
    def is_valid_dna_sequence(dna_sequence: str) -> bool:
        """Whether only A, C, G and T are in a sequence."""
        return bool(do["is_valid_dna_sequence"](dna_sequence))

    @tool(effect="pure")
    def reverse_transcribe_mrna_to_dna(mrna_sequence: str) -> str:
        """Transcribe mRNA back to DNA."""
        return str(do["reverse_transcribe_mrna_to_dna"](mrna_sequence))

    return [
        convert_hex_to_ascii, reverse_string, caesar_decode, string_length, count_nucleotides,
        transcribe_dna_to_mrna, translate_mrna_to_amino_acid, is_valid_dna_sequence,
        reverse_transcribe_mrna_to_dna,
    ]  # fmt: skip


def _trade(do: Mapping[str, Callable[..., Any]]) -> list[Tool]:
    @tool(effect="pure")
    def convert_currency(base_price: float, conversion_rate: float) -> float:
        """Convert a price."""
        return float(do["convert_currency"](base_price, conversion_rate))

    @tool(effect="pure")
    def calculate_tariff(price: float, tariff_rate: float) -> float:
        """Calculate the tariff on a price, at a rate in per cent."""
        return float(do["calculate_tariff"](price, tariff_rate))

    @tool(effect="pure")
    def estimate_final_value(price: float, tariff: float) -> float:
        """Add a tariff to a price."""
        return float(do["estimate_final_value"](price, tariff))

    return [convert_currency, calculate_tariff, estimate_final_value]


def _travel(do: Mapping[str, Callable[..., Any]]) -> list[Tool]:
    @tool(effect="read")
    def find_flights(from_location: str, to_location: str, date: str) -> list[dict[str, Json]]:
        """List flights of a day (YYYY-MM-DD) with their prices."""
        return list(do["find_flights"](from_location, to_location, date))

    @tool(effect="read")
    def book_hotel(location: str, preferences: list[str]) -> list[dict[str, Json]]:
        """List hotels that have all preferences, with price_per_night and rating."""
        return list(do["book_hotel"](location, *preferences))

    @tool(effect="pure")
    def budget_calculator(
        flight_price: float, hotel_price_per_night: float, num_nights: int
    ) -> float:
        """Add up what a trip costs."""
        return float(do["budget_calculator"](flight_price, hotel_price_per_night, num_nights))

    return [find_flights, book_hotel, budget_calculator]


def _browser(do: Mapping[str, Callable[..., Any]]) -> list[Tool]:
    @tool(effect="read")
    def view() -> str:
        """Show what is seen of the page."""
        return str(do["view"]())

    @tool(effect="read")
    def click_url(url: str) -> str:
        """Open the page of a link, shown as [Clickable 'URL']; returns its first lines."""
        return str(do["click_url"](url))

    @tool(effect="read")
    def scroll_down() -> str:
        """Show the next lines of the page."""
        return str(do["scroll_down"]())

    return [view, click_url, scroll_down]
