"""The speed of codecs is measured on everything a codec reads; no figure is asserted."""

import pytest

from clew.core.contents import RawCall, Reply
from recordings import codec_speed
from recordings.codec_speed import LIMIT, Read, growth, measured, native_reply, size
from recordings.data import VARIABLE, folder, missing
from recordings.text_formats import FORMATS

HERE, WHY_NOT = folder(), missing()
"""Where the recordings lie, taken before a test loses the variables of its environment."""


def test_every_shape_is_read_and_streamed() -> None:
    form = FORMATS[0]
    one = Read(
        "own", form.codec, form.prompt_spec, [Reply("a\nAction 1: search[b]")], "Action: search["
    )
    part = measured([one], 0.001)
    assert [figure.what for figure in part.figures] == [
        "recorded: own (paper/2)",
        "hostile: paper/2, read, slowest",
        "hostile: paper/2, read, growth",
        "hostile: paper/2, streamed, slowest",
        "hostile: paper/2, streamed, growth",
    ]
    assert part.figures[0].of == "1 replies, 0.00 MB"
    assert len(part.misses) == 2


@pytest.mark.parametrize(
    ("took", "wanted"),
    [
        ([0.1, 0.2, 0.4, 0.8], 1.0),
        ([0.1, 0.4, 1.6, 6.4], 8.0),
        ([0.001, 0.002, 0.004, 0.008], 0.0),
    ],
)
def test_growth_is_what_a_character_costs_over_the_shortest(
    took: list[float], wanted: float
) -> None:
    texts = ["x" * length for length in (1000, 2000, 4000, 8000)]
    assert growth(texts, took) == pytest.approx(wanted)
    assert (wanted > LIMIT) is (took[-1] == 6.4)


def test_a_providers_message_is_a_reply() -> None:
    fields = {"name": "look", "arguments": '{"a": 1}'}
    reply = native_reply({"content": None, "tool_calls": [{"id": "1", "function": fields}]})
    assert reply == Reply("", (RawCall(name="look", arguments='{"a": 1}', id="1"),), finish="calls")
    plain = native_reply(
        {"content": "é", "tool_calls": [{"id": "2", "name": "look", "arguments": {"a": 1}}]}
    )
    assert (plain.calls[0].arguments, size(plain)) == ('{"a": 1}', 10)
    assert native_reply({"content": "Hello."}) == Reply("Hello.")


@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
def test_a_sample_of_the_recordings_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(HERE))
    part = codec_speed.measure(500)
    on = {figure.what.partition(":")[0]: figure.of for figure in part.figures}
    assert on["hostile"] == "2,000 characters"
    assert len(part.figures) > 20
