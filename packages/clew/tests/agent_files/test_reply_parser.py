"""A second model that reads the replies of the first, named in an agent file."""

from pathlib import Path

import pytest

from clew import ConfigError, MemoryStore, run
from clew.agent_files import load_agent


async def test_an_agent_file_names_it(tmp_path: Path) -> None:
    file = tmp_path / "agent.toml"
    file.write_text('model = "offline"\nparser = "offline"\n')
    agent = load_agent(file).agent
    assert agent.spec.params["parser"] == "offline"
    assert (await run(agent, "What is 17 * 23?", store=MemoryStore())).ok
    file.write_text('model = "offline"\nparser = "nobody:knows"\n')
    with pytest.raises(ConfigError, match="line 2"):
        load_agent(file)
