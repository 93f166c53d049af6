"""Formats are found by their names."""

import pytest

from clew.codecs import by_name, names
from clew.support.errors import ConfigError
from tests.codecs.samples import installed


def test_every_name_finds_its_codec() -> None:
    assert "native" in names()
    here = installed(*names())
    assert [by_name(name).name.partition("/")[0] for name in here] == list(here)
    with pytest.raises(ConfigError, match=f"choose one of: {', '.join(names())}"):
        by_name("nonesuch")
