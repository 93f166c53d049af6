"""The table `strategy` of an agent file: which one, its settings, and who else takes part."""

from typing import Any

import msgspec


class StrategyTable(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The table `strategy`: a name, and those settings that the strategy has (`clew_strategies`).

    `name` is that of a strategy that ships, or `module:name` of one's own: what it names takes the
    agent and the settings, and gives a `Strategy`. Who else takes part (`evaluator`, `planner`
    …) is the place of an agent file, relative to this one, or the name of a tool of the agent.
    """

    name: str
    trials: int | None = None
    memory: int | None = None
    rounds: int | None = None
    max_workers: int | None = None
    max_steps: int | None = None
    max_calls: int | None = None
    max_branches: int | None = None
    replans: int | None = None
    breadth: int | None = None
    depth: int | None = None
    steps: int | None = None
    votes: int | None = None
    by: str | None = None
    enough: float | None = None
    min_score: float | None = None
    explore: float | None = None
    asks: bool | None = None
    evaluator: str = ""
    reflector: str = ""
    planner: str = ""
    divider: str = ""
    scorer: str = ""
    chooser: str = ""
    code: str = ""

    @property
    def settings(self) -> dict[str, Any]:
        """The numbers and words that are said beside the name."""
        fields = msgspec.structs.asdict(self)
        apart = {"name", *self.others}
        return {
            name: it for name, it in fields.items() if name not in apart and it not in (None, "")
        }

    @property
    def others(self) -> dict[str, str]:
        """Who else takes part, by field: an agent file, or a tool of the agent."""
        names = ("evaluator", "reflector", "planner", "divider", "scorer", "chooser", "code")
        return {name: file_or_tool for name in names if (file_or_tool := getattr(self, name))}

    @property
    def files(self) -> dict[str, str]:
        """Those of them that are agent files."""
        return {
            name: file_or_tool
            for name, file_or_tool in self.others.items()
            if file_or_tool.endswith(".toml")
        }
