"""Where cells are tried: two servers, a folder, and an environment without a person's settings."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clew_testing.servers import OpenAIServer
from tests.matrix.cells import Bench
from tests.matrix.far_web_server import FarWebServer
from tests.matrix.model import Model
from tests.models.proxy import Proxy


@contextmanager
def bench() -> Iterator[Bench]:
    """A bench; what it needs of the environment is set for as long."""
    model, before = Model(), dict(os.environ)
    with (
        OpenAIServer(model) as usual,
        OpenAIServer(model) as other,
        FarWebServer() as far,
        Proxy() as proxy,
        tempfile.TemporaryDirectory() as folder,
    ):
        os.environ |= {"OPENAI_API_KEY": "sk-matrix", "OPENAI_BASE_URL": usual.base_url}
        os.environ |= {"MATRIX_SECRET": "matrix-secret", "XDG_DATA_HOME": folder}  # of a server
        try:
            yield Bench((usual, other), far, proxy, model, Path(folder))
        finally:
            os.environ.clear()
            os.environ.update(before)
