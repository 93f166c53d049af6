import contextvars
import datetime as dt
import enum
import functools
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NotRequired, Required, TypedDict

import annotated_types
import anyio
import msgspec
import pydantic
import pytest

from clew import RunContext
from clew.concurrency.tasks import stoppable
from clew.core.contents import Observation
from clew.core.tools import Retry, Tool
from clew.core.values import Json
from clew.core.verdicts import Verdict
from clew.support.errors import ConfigError, ToolError
from clew.tools import Attempts, tool
from clew.tools.finish import answer_schema, decode_answer, finish_tool
from clew.tools.schema import problems
from tests.patience import PATIENCE

pytestmark = pytest.mark.both_loops

KEY = "run-1:2.1"


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Span(TypedDict):
    start: Required[int]
    end: NotRequired[int]


@dataclass
class Place:
    """Somewhere."""

    name: str
    height: float = 0.0
    tags: list[str] = field(default_factory=list[str])


class Point(msgspec.Struct):
    x: int
    y: int = 0


class Item(pydantic.BaseModel):
    title: str = pydantic.Field(min_length=2, title="What it is called")
    count: int = pydantic.Field(ge=1)
    parts: "list[Item]" = []
    made: dt.date | None = None

    @pydantic.field_validator("title")
    @classmethod
    def _no_shouting(cls, title: str) -> str:
        if title.isupper():
            raise ValueError("do not shout")
        return title

    @pydantic.computed_field  # type: ignore[prop-decorator] # mypy does not know this pair
    @property
    def double(self) -> int:
        return self.count * 2


class Box(pydantic.BaseModel):
    items: dict[str, int]


@tool(effect="read", timeout=5, retry=Retry(2), trust="trusted", version="3", hidden=True)
async def everything(
    query: str,
    place: Place,
    ctx: RunContext,
    colour: Colour = Colour.RED,
    limit: Annotated[int, msgspec.Meta(ge=1, le=5, description="At most so many")] = 3,
    *,
    mode: Literal["a", "b"] | None = None,
    span: Span | None = None,
    point: Point | None = None,
    pair: tuple[int, str] = (1, "x"),
    seen: frozenset[int] = frozenset(),
    options: Annotated[dict[str, Any], "Whatever else"] = {},  # noqa: B006 - defaults are read
    item: Item | None = None,
    ratio: float = 0.5,
    sure: bool = False,
) -> dict[str, Any]:
    """Look for it.

    In many places.

    Args:
        query: What to look for,
            in words.
        colour: Its colour.
        options: Not this one.
    """
    return {
        "repr": repr((query, place, ctx.key, colour, limit, mode, span, point, pair)),
        "seen": seen,
    }


def test_a_schema_says_all_that_the_signature_and_the_docstring_say() -> None:
    parameters = everything.parameters
    shown = parameters["properties"]
    assert everything.description == "Look for it.\n\nIn many places."
    assert parameters["required"] == ["query", "place"]
    assert parameters["additionalProperties"] is False
    assert "ctx" not in shown
    assert shown["query"] == {"description": "What to look for, in words.", "type": "string"}
    assert shown["limit"] == {
        "description": "At most so many",
        "type": "integer",
        "minimum": 1,
        "maximum": 5,
        "default": 3,
    }
    assert shown["options"]["description"] == "Whatever else"
    assert shown["colour"]["description"] == "Its colour."
    assert shown["colour"]["default"] == "red"
    assert parameters["$defs"]["Colour"] == {"enum": ["blue", "red"]}
    assert parameters["$defs"]["Place"]["additionalProperties"] is False
    assert parameters["$defs"]["Item"]["properties"]["count"] == {"minimum": 1, "type": "integer"}
    assert parameters["$defs"]["Item"]["properties"]["title"]["title"] == "What it is called"
    assert shown["seen"]["uniqueItems"] is True
    assert everything.result == {"type": "object"}


def test_options_are_the_fields_of_the_tool() -> None:
    assert (everything.effect, everything.attempts) == ("read", Attempts(5, Retry(2)))
    assert (everything.trust, everything.version, everything.hidden) == ("trusted", "3", True)
    assert stoppable(everything.call)


async def test_arguments_arrive_in_the_functions_types_and_the_key_with_them() -> None:
    args = {
        "query": "q",
        "place": {"name": "here"},
        "colour": "blue",
        "mode": "b",
        "span": {"start": 1},
        "point": {"x": 4},
        "pair": [2, "y"],
        "seen": [3],
        "item": {"title": "ab", "count": 1, "made": "2020-01-02"},
        "ratio": 1,
    }
    assert problems(everything.parameters, args) == []
    came = await everything.call(args, KEY)
    place, colour = Place("here"), Colour.BLUE
    expected = ("q", place, KEY, colour, 3, "b", {"start": 1}, Point(4), (2, "y"))
    assert came == {"repr": repr(expected), "seen": [3]}


@pytest.mark.parametrize(
    ("args", "line"),
    [
        ({"query": 1}, "query: 1 is a number, a string is required"),
        ({"limit": "5"}, 'limit: "5" is a string, an integer from 1 to 5 is required'),
        ({"limit": True}, "limit: true is a boolean, an integer from 1 to 5 is required"),
        ({"limit": 6}, "limit: 6 is greater than the maximum of 5"),
        ({"sure": "yes"}, 'sure: "yes" is a string, a boolean is required'),
        ({"colour": "green"}, 'colour: "green" is not allowed, one of "blue", "red" is required'),
        ({"mode": "c"}, 'mode: "c" is not allowed, one of "a", "b" or null is required'),
        (
            {"place": {"name": "x", "hight": 2}},
            "place.hight: unknown argument; did you mean height?",
        ),
        ({"span": {}}, "span.start: missing, an integer is required"),
        ({"item": {"title": "ab", "count": 0}}, "item.count: 0 is less than the minimum of 1"),
        ({"ctx": "mine"}, "ctx: unknown argument; "),
        ({"seen": [1, 1]}, "seen: "),
    ],
)
def test_nothing_is_coerced_or_dropped(args: dict[str, Json], line: str) -> None:
    whole = {"query": "q", "place": {"name": "x"}} | args
    assert [one for one in problems(everything.parameters, whole) if one.startswith(line)]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"place": {"name": "x"}, "limit": 5.0}, "limit: Expected `int`, got `float`"),
        ({"place": {"name": "x"}, "item": {"title": "AB", "count": 1}}, "do not shout"),
        ({"place": {"name": "x"}, "item": {"title": "ab", "count": 1, "made": "?"}}, "made: "),
    ],
)
async def test_what_only_the_type_refuses_is_not_called(args: dict[str, Json], said: str) -> None:
    whole = {"query": "q"} | args
    assert problems(everything.parameters, whole) == []
    came = await everything.call(whole, KEY)
    assert isinstance(came, Observation)
    assert (came.ok, came.code, came.outcome) == (False, "invalid_arguments", "not_done")
    assert came.text.startswith("ERROR: invalid_arguments: everything: ")
    assert said in came.text
    assert "\n" not in came.text


async def test_a_plain_decorator_makes_an_unsafe_tool_that_runs_in_a_thread() -> None:
    @tool
    def where() -> bool:
        """Say whether this is the main thread."""
        return threading.current_thread() is threading.main_thread()

    assert (where.effect, stoppable(where.call), where.name) == ("unsafe", False, "where")
    assert where.parameters == {"type": "object", "properties": {}, "additionalProperties": False}
    assert await where.call({}, KEY) is False


async def test_an_inline_function_runs_on_the_loop_s_own_thread() -> None:
    @tool(effect="pure", inline=True)
    def where() -> bool:
        """Say whether this is the main thread."""
        return threading.current_thread() is threading.main_thread()

    assert await where.call({}, KEY) is True


async def test_twenty_sync_calls_run_at_once() -> None:
    together = threading.Barrier(20)

    @tool(effect="read")
    def meet() -> int:
        """Wait for all the others."""
        return together.wait(PATIENCE)

    came: list[int] = []

    async def one() -> None:
        came.append(await meet.call({}, KEY))

    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(one)
    assert sorted(came) == list(range(20))


async def _await(made: Tool) -> None:
    await made.call({}, KEY)


async def test_a_sync_call_is_left_behind_at_its_deadline() -> None:
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    @tool
    def slow() -> None:
        """Wait."""
        begun.set()
        go_on.wait(PATIENCE)
        ended.set()

    async with anyio.create_task_group() as group:
        group.start_soon(_await, slow)
        await anyio.to_thread.run_sync(begun.wait, PATIENCE)
        group.cancel_scope.cancel()
    assert not ended.is_set()
    go_on.set()
    assert ended.wait(PATIENCE)


WHO: contextvars.ContextVar[str] = contextvars.ContextVar("WHO", default="nobody")


async def test_context_variables_reach_the_thread() -> None:
    @tool
    def who() -> str:
        """Say who calls."""
        return WHO.get()

    WHO.set("me")
    assert await who.call({}, KEY) == "me"


@pytest.mark.parametrize(
    "style",
    [
        "Do it.\n\nArgs:\n    a: the first",
        "Do it.\n\nParameters\n----------\na : int\n    the first",
        "Do it.\n\n:param a: the first",
    ],
)
def test_docstrings_may_be_in_any_of_three_styles(style: str) -> None:
    def function(a: int) -> None: ...

    function.__doc__ = style
    made = tool(function)
    assert made.description == "Do it."
    assert made.parameters["properties"]["a"] == {"description": "the first", "type": "integer"}


def _local() -> Callable[..., Any]:
    class Local: ...

    def function(a: "Local") -> None:
        """Do it."""

    return function


def _no_annotation(a) -> None:  # type: ignore[no-untyped-def] # noqa: ANN001 - tested
    """Do it."""


class Opaque:
    """What no library reads."""


def _no_schema(a: int, b: Opaque) -> None:
    """Do it."""


def _variadic(*words: str) -> None:
    """Do it."""


def _keywords(**words: str) -> None:
    """Do it."""


def _no_words(a: int) -> None: ...


def _maybe_context(a: RunContext | None) -> None:
    """Do it."""


Both = Annotated[int, pydantic.Field(ge=1), msgspec.Meta(le=9)]


def _limits_of_both(a: Both) -> None:
    """Do it."""


class Framed(msgspec.Struct):
    size: Annotated[int, annotated_types.Gt(1)]


def _limits_in_a_struct(a: Framed) -> None:
    """Do it."""


def _limits_as_default(a: int = pydantic.Field(ge=1)) -> None:
    """Do it."""


class Calls(pydantic.BaseModel):
    size: Callable[[], int]


def _no_json(a: Calls) -> None:
    """Do it."""


def _no_core_schema(a: Annotated[Opaque | Item, pydantic.Field(discriminator="x")]) -> None:
    """Do it."""


@dataclass
class Undefined:
    size: "Nowhere"  # type: ignore[name-defined] # noqa: F821 - that is what is tested


def _undefined(a: Undefined) -> None:
    """Do it."""


def _bad_result(a: int) -> Opaque:
    """Do it."""
    return Opaque()


def _yields() -> Iterator[int]:
    """Do it."""
    yield 1


async def _yields_later() -> AsyncIterator[int]:
    """Do it."""
    yield 1


Inner = pydantic.create_model("Place", size=(int, ...))
Outer = pydantic.create_model("Outer", places=(list[Inner], ...))  # type: ignore[valid-type] # made at run time


def _same_name(a: Place, b: Outer) -> None:  # type: ignore[valid-type] # made at run time
    """Do it."""


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (_no_annotation, ["_no_annotation, parameter a", "annotate it"]),
        (_no_schema, ["_no_schema, b", "Opaque", "dataclass"]),
        (_variadic, ["_variadic, parameter words"]),
        (_keywords, ["_keywords, parameter words"]),
        (_no_words, ["_no_words", "docstring"]),
        (_maybe_context, ["_maybe_context, parameter a", "RunContext alone"]),
        (_limits_of_both, ["_limits_of_both, a", "Meta(le=9)", "pydantic.Field"]),
        (_limits_in_a_struct, ["_limits_in_a_struct, a", "Framed", "pydantic"]),
        (_limits_as_default, ["_limits_as_default, a", "Annotated"]),
        (_no_json, ["_no_json, a", "Callable"]),
        (_no_core_schema, ["_no_core_schema, a"]),
        (_undefined, ["_undefined, a", "Nowhere"]),
        (_bad_result, ["_bad_result, return type", "Opaque"]),
        (_yields, ["_yields", "one value"]),
        (_yields_later, ["_yields_later", "one value"]),
        (_local(), ["function function", "Local"]),
        (_same_name, ["two different types are called Place"]),
        (Place, ["is no function"]),
        (functools.partial(_no_schema, 1), ["_no_schema, b", "Opaque"]),
        (lambda: 1, ["'<lambda>'"]),
    ],
)
def test_a_function_that_does_not_fit_is_refused_by_name(
    function: Callable[..., Any], words: list[str]
) -> None:
    with pytest.raises(ConfigError) as caught:
        tool(function)
    assert all(word in str(caught.value) for word in words), caught.value
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"name": "a b"}, "a b"),
        ({"timeout": 0}, "timeout"),
        ({"timeout": float("inf")}, "timeout"),
        ({"retry": 3}, "Retry"),
        ({"timeout": "3"}, "timeout is '3': give a number"),
        ({"hidden": "false"}, "hidden is 'false': give True or False"),
        ({"version": 3}, "version is 3: give a text"),
        ({"name": 3}, "name is 3"),
        ({"timout": 3}, "did you mean timeout?"),
        ({"retries": 3}, "did you mean retry?"),
        ({"cpu": 3}, "there are name"),
        ({"examples": ({"a": "1"},)}, "example"),
        ({"result": {"type": "nothing"}}, "no JSON Schema"),
        ({"result": {"default": object()}}, "must be JSON"),
        ({"inline": True}, "inline"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: dict[str, Any], word: str) -> None:
    def double(a: int) -> int:
        """Double it."""
        return 2 * a

    with pytest.raises(ConfigError, match=word):
        tool(**options)(double)


def test_only_a_pure_def_may_be_inline() -> None:
    async def function() -> None:
        """Do it."""

    with pytest.raises(ConfigError, match="inline"):
        tool(effect="pure", inline=True)(function)


def test_a_name_a_description_an_example_may_be_given() -> None:
    @tool(name="twice", description="Double it.", examples=({"b": 1},), result={"type": "integer"})
    def double(
        a: Annotated[RunContext, "the context"],
        b: int | None = None,
        c: Any = object(),  # noqa: B008 - a sentinel
    ) -> Any:
        return a, b, c

    assert (double.name, double.description) == ("twice", "Double it.")
    assert "default" not in double.parameters["properties"]["c"]
    assert list(double.parameters["properties"]) == ["b", "c"]


async def _came(value: Any, kind: Any = Any) -> Any:
    def function() -> Any:
        """Do it."""
        return value

    function.__annotations__["return"] = kind
    return await tool(effect="pure", inline=True)(function).call({}, KEY)


@pytest.mark.parametrize(
    ("value", "came"),
    [
        ("text", "text"),
        (None, None),
        (Place("x", 1.5), {"name": "x", "height": 1.5, "tags": []}),
        (Point(1), {"x": 1, "y": 0}),
        (Box(items={"a": 1}), {"items": {"a": 1}}),
        ([Box(items={})], [{"items": {}}]),
        ({1: {2}, "d": dt.date(2020, 1, 2)}, {"1": [2], "d": "2020-01-02"}),
        ((1, 2**70), [1, 2**70]),
        (Colour.RED, "red"),
    ],
)
async def test_results_become_json(value: Any, came: Json) -> None:
    found = await _came(value)
    assert msgspec.json.decode(msgspec.json.encode(found)) == came


def _loop() -> list[Any]:
    found: list[Any] = []
    found.append(found)
    return found


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (object(), "object"),
        (float("nan"), "nan"),
        ({"a": [float("inf")]}, "inf"),
        ("\udcff", "surrogates"),
        (_loop(), "holds itself"),
        ({1: 2, "1": 3}, "two keys of a dict are '1' as text"),
        ([{"a": ({"b": 1, 2: 3, "2": 4},)}], "two keys of a dict are '2' as text"),
    ],
)
async def test_what_json_cannot_carry_is_bad_output_of_a_call_that_is_done(
    value: Any, word: str
) -> None:
    came = await _came(value)
    assert isinstance(came, Observation)
    assert (came.ok, came.code, came.outcome) == (False, "bad_output", "done")
    assert word in came.text


async def test_an_observation_passes_as_it_is() -> None:
    said = Observation(content={"x": 1}, trust="trusted")
    assert await _came(said) is said


async def test_a_function_holds_its_own_call_with_a_verdict() -> None:
    held = Verdict("hold", "which size?", asks={"type": "integer"})
    assert await _came(held) is held


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (str, None),
        (Any, None),
        (object, None),
        (None, None),
        (Observation, None),
        (str | Observation, None),
        (Verdict, None),
        (str | Verdict, None),
        (list[int] | Verdict, {"type": "array", "items": {"type": "integer"}}),
        (Annotated[str, "words"], None),
        (int, {"type": "integer"}),
        (
            dict[str, int] | Observation,
            {"type": "object", "additionalProperties": {"type": "integer"}},
        ),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
    ],
)
def test_a_return_annotation_is_a_schema_where_it_says_something(
    kind: Any, schema: dict[str, Json] | None
) -> None:
    def function() -> Any:
        """Do it."""

    function.__annotations__["return"] = kind
    assert tool(function).result == schema


def test_a_result_without_annotation_has_no_schema() -> None:
    def function():  # type: ignore[no-untyped-def] # noqa: ANN202 - that is what is tested
        """Do it."""

    assert tool(function).result is None


def test_a_pydantic_result_has_the_schema_of_what_it_writes() -> None:
    @tool
    def make() -> Item:
        """Make one."""
        return Item(title="ab", count=2)

    assert make.result is not None
    made = Item(title="ab", count=2).model_dump(mode="json")
    assert problems(make.result, made) == []
    assert problems(make.result, made | {"double": "4"}) != []


async def test_exceptions_are_the_loops_to_read() -> None:
    @tool
    def refuse(words: str) -> None:
        """Refuse."""
        raise ToolError(words)

    @tool
    async def fail() -> None:
        """Fail."""
        raise ZeroDivisionError

    with pytest.raises(ToolError, match="not here"):
        await refuse.call({"words": "not here"}, KEY)
    with pytest.raises(ZeroDivisionError):
        await fail.call({}, KEY)


async def test_methods_are_functions_too() -> None:
    class Shop:
        price = 3

        def cost(self, count: int) -> int:
            """Say what they cost."""
            return self.price * count

    assert await tool(Shop().cost).call({"count": 2}, KEY) == 6


def test_probe_and_repair_are_passed_on() -> None:
    async def probe(args: dict[str, Json], key: str) -> None: ...

    def repair(args: dict[str, Json]) -> tuple[dict[str, Json], str] | None:
        return None

    @tool(effect="idempotent", probe=probe, repair=repair)
    def write(text: str) -> None:
        """Write."""

    assert (write.attempts.probe, write.repair) == (probe, repair)


# ---------------------------------------------------------------- finish


@pytest.mark.parametrize(
    ("kind", "value", "answer"),
    [
        (str, "yes", "yes"),
        (int, 3, 3),
        (float, 3, 3.0),
        (bool, False, False),
        (list[int], [1, 2], [1, 2]),
        (Place, {"name": "x"}, Place("x")),
        (Point, {"x": 1}, Point(1)),
        (Span, {"start": 1}, {"start": 1}),
        (Item, {"title": "ab", "count": 1}, Item(title="ab", count=1)),
        (list[Item], [{"title": "ab", "count": 1}], [Item(title="ab", count=1)]),
        (Colour, "red", Colour.RED),
    ],
)
async def test_an_answer_of_any_type_comes_through_finish(
    kind: Any, value: Json, answer: Any
) -> None:
    finish = finish_tool(answer_schema(kind))
    args = {"answer": value}
    assert finish.name == "finish"
    assert problems(finish.parameters, args) == []
    assert decode_answer(kind, await finish.call(args, KEY)) == answer


@pytest.mark.parametrize(
    ("kind", "value", "line"),
    [
        (str, 3, "value: 3 is a number, a string is required"),
        (int, "3", 'value: "3" is a string, an integer is required'),
        (int, 3.0, "value: Expected `int`, got `float`"),
        (bool, 1, "value: 1 is a number, a boolean is required"),
        (Place, {}, "name: missing, a string is required"),
        (Place, {"name": "x", "more": 1}, "more: unknown field; there are: name, height, tags"),
        (list[Item], [{"title": "ab", "count": 0}], "[0].count: 0 is less than the minimum of 1"),
        (Item, {"title": "AB", "count": 1}, "title: do not shout"),
        (list[Item], [{"title": "AB", "count": 1}], "[0]: title: do not shout"),
    ],
)
def test_an_answer_of_another_type_is_refused_with_a_line(
    kind: Any, value: Json, line: str
) -> None:
    with pytest.raises(ValueError) as caught:
        decode_answer(kind, value)
    assert str(caught.value) == line


def test_an_answer_needs_a_schema() -> None:
    with pytest.raises(ConfigError, match="the answer's type"):
        answer_schema(Opaque)


def test_the_type_of_a_decorated_function_is_tool() -> None:
    assert isinstance(everything, Tool)
