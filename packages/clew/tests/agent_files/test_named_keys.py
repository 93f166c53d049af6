"""A complaint about a table names the line of the key that it is about."""

from pathlib import Path

import pytest

from clew import ConfigError
from clew.agent_files import make_agent, read_agent_file

HEAD = 'model = "offline"\ntools = ["calc"]\n'


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        ('[limits]\nsteps = 3\n\ncost = "a"', 6),
        ("[limits.calls_per_tool]\ncalc = 2\nclac = 3", 5),
        ('[limits.calls_per_tool]\ncalc = 2\nplanner = "a"', 5),
        ("[limits.calls_per_tool]\ncalc = 2\n\nplanner = 1.5", 6),
        ('strategy = "rewoo"\n[limits.calls_per_tool]\ncalc = 2\nclac = 3', 6),
        ('[compaction]\nat = 0.9\n\nto = 0.1\nby = ["a"]', 7),
        ("[compaction]\nkeep = 3\nto = 0.1\nat = 1.9", 6),
        ("[rewinds]\nrejected = 2\n\nmax_rewinds = 0", 6),
        ('[strategy]\nname = "reflexion"\n\ntrials = 0', 6),
        ('checks = ["grounded"]\n[grounded]\nscope = "sentence"\n\nthreshold = 7', 7),
        ('[prices."x"]\ninput = 3\n\noutput = "a"', 6),
        ('[workspace]\nroot = "."\n\nonly = ["zz"]', 6),
        ("[connection]\npatience = 3\n\ntimeout = -3", 6),
        ("[connection]\npatience = true\ntimeout = 3", 4),
    ],
)
def test_the_line_is_that_of_the_key(lines: str, line: int, tmp_path: Path) -> None:
    text = HEAD + lines
    if "[connection]" in lines:
        text = text.replace("offline", "openai:gpt-x")
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(ConfigError) as refused:
        make_agent(read_agent_file(tmp_path / "a.toml"))
    assert f"a.toml, line {line}: " in str(refused.value)
