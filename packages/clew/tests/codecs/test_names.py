"""Formats are found by their names."""

from pathlib import Path

import pytest

from clew import Agent, run_sync
from clew.codecs import by_name, names
from clew.support.errors import ConfigError
from clew.testing import ScriptedModel
from tests.codecs.samples import installed


def test_every_name_finds_its_codec() -> None:
    assert "native" in names()
    here = installed(*names())
    assert [by_name(name).name.partition("/")[0] for name in here] == list(here)
    with pytest.raises(ConfigError, match=f"choose one of: {', '.join(names())}"):
        by_name("nonesuch")


def test_a_package_of_anybodys_adds_a_format_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "acme-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[clew.codecs]\nplain = acme_plain:PLAIN\n")
    (tmp_path / "acme_plain.py").write_text(
        "from clew.codecs.react_text import Paper\n"
        "class Plain(Paper):\n    name = 'plain/1'\n"
        "PLAIN = Plain()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert by_name("plain").name == "plain/1"
    assert "plain" in names()
    agent = Agent(ScriptedModel(["Thought 1: So.\nAction 1: Finish[yes]"]), codec="plain")
    assert run_sync(agent, "Is it?").answer == "yes"
