"""The settings of an agent as the record keeps them."""

from clew.core.codes import Effect
from clew.core.values import Json, Value


class Rates(Value, frozen=True):
    """US dollars per million tokens of prompts, replies and the provider's cache.

    They serve to estimate a call beforehand; its reply reports the actual cost.
    """

    input: float
    output: float
    cached: float


class ToolSetting(Value, frozen=True):
    """A tool of an agent's settings: its version, its effect, and a hash of its schema.

    What others wrote of a `foreign` tool is outside text, which each model reads first.
    """

    version: str
    effect: Effect
    schema: str
    foreign: bool = False


class AgentSpec(Value, frozen=True):
    """The settings of an agent when a run began, so that a replay can say what changed.

    `tools` has each tool by its name; `parts` names every further part (codec, limits, bounds,
    guards, checks). `prompt_spec` is the material of its prompts, kept in the blob `prompt_blob`.
    Comparing settings ignores it, whether all models have known prices (`priced`), and the `rates`
    of the model, if they are known. A reply of it may `wait` so many seconds at its provider.
    """

    fingerprint: str
    model: str
    codec: str
    prompt: str
    params: dict[str, Json] = {}
    tools: dict[str, ToolSetting] = {}
    parts: dict[str, Json] = {}
    prompt_spec: Json = None
    prompt_blob: str = ""
    rates: Rates | None = None
    priced: bool = False
    wait: float = 0.0
