"""A format that a package adds: one that is none is told in a line."""

from pathlib import Path

import pytest

from clew.codecs import by_name
from clew.support.errors import ConfigError


@pytest.mark.parametrize(("value", "kind"), [("Path", "type"), ("curdir", "str")])
def test_what_a_package_adds_as_a_format_must_be_one(
    value: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = "pathlib" if value == "Path" else "os"
    info = tmp_path / f"odd_{kind}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: odd-{kind}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[clew.codecs]\nodd_{kind} = {home}:{value}\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match=f"is of type {kind}: name a Codec there"):
        by_name(f"odd_{kind}")
