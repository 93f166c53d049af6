"""AgentDojo's tools as tools of clew, over one environment; what is called is written down."""

from dataclasses import dataclass, field, replace
from typing import Any

from clew import Tool, ToolError
from clew.core.values import Json
from security.dojo import Made, Suite, call_function
from security.labels import LABELS


@dataclass
class Toolbox:
    """The tools of a suite; `poisoned` are results and descriptions that have a text added."""

    suite: Suite
    environment: Any
    results: dict[str, Json] = field(default_factory=dict[str, Json])
    """What is added to the results of tools, by name."""
    descriptions: dict[str, str] = field(default_factory=dict[str, str])
    """What is added to the descriptions of tools, by name."""
    made: list[Made] = field(default_factory=list[Made])

    def tools(self) -> list[Tool]:
        """All of them."""
        return [self._tool(function) for function in self.suite.tools]

    def _tool(self, function: Any) -> Tool:
        name, label = function.name, LABELS[function.name]

        async def call(args: dict[str, Json], key: str) -> Any:
            self.made.append((name, args))
            result, error = call_function(function, self.environment, args)
            if error:
                raise ToolError(error)
            return self._result(name, result)

        labels, added_text = label.labels, self.descriptions.get(name, "")
        if added_text:
            labels = replace(labels, foreign=True)  # what others wrote is what is poisoned
        schema = function.parameters.model_json_schema()
        schema.pop("title", None)
        return Tool(
            name, f"{function.description}{added_text}", schema, call,
            effect=label.effect, trust=label.trust, labels=labels,
        )  # fmt: skip

    def _result(self, name: str, result: Json) -> Json:
        added = self.results.get(name)
        if added is None:
            return result
        if isinstance(result, dict):
            return {**result, "notice": added}
        return [*result, added] if isinstance(result, list) else f"{result}\n{added}"
