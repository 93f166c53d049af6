"""What a text codec must do that can describe tools in the midst of a run."""

from clew.interfaces import Codec, Describes
from clew_testing.codec_samples import ACTIONS, TOOLS, prompt_spec, replies, step
from clew_testing.expect import expect, require


def further_tools_are_described_as_in_the_head(codec: Codec) -> None:
    """All of each, the same each time; its calls are read alike, whether it was described or not.

    A codec without `describe`, or with native calls, has nothing to prove.
    """
    if codec.native or not isinstance(codec, Describes):
        return
    asked = prompt_spec(tools=TOOLS[:1], more=TOOLS[1:])
    head = "\n".join(part.text for part in codec.head(asked, "Why?"))
    for tool in TOOLS[1:]:
        require(
            tool.description not in head, f"{tool.name} is not to be shown yet, but the head has it"
        )
        parts, again = (codec.describe(asked, [tool]) for _ in range(2))
        expect([part.text for part in again], [part.text for part in parts], "a description, again")
        told = "\n".join(part.text for part in parts)
        for word in (tool.name, tool.description, *tool.parameters["properties"]):
            require(word in told, f"{tool.name} is described without {word}")
    for action in ACTIONS:
        for reply in replies(codec.render(prompt_spec(), step("", action))):
            expect(
                codec.parse(asked, reply), codec.parse(prompt_spec(), reply), "a call, read early"
            )
