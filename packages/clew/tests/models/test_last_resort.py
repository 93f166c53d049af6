"""The last repair asks for no words: a refusal that nothing explains is tried once without steps.

Bodies: SiliconFlow (QwenPaw issue 433), Z.ai's code 1210, DashScope, watsonx, Volcengine, and the
errors of llama.cpp's and other templates, as people reported them.
"""

import json
from typing import Any

import pytest

from clew import Agent, MemoryStore, ModelError, ModelSettings, replay, resume, run
from clew.core.events import Thought
from clew.core.journal import load
from clew.core.prompts import Part, Prompt
from clew.core.tools import Retry
from clew.models.openai.responses import openai_responses
from clew_testing.servers.http_server import Fail, Say, Send
from tests.models import gemini_support, messages
from tests.models.door_talk import look
from tests.models.support import over
from tests.models.test_history import roles, spoken

ROW = "Value is not callable: null at row 1, column 5:\n"
REFUSALS: dict[str, tuple[int, Any]] = {
    "siliconflow": (400, {"code": 20015, "message": "The parameter is invalid. Please check."}),
    "z.ai": (400, {"error": {"code": "1210", "message": "API 调用参数有误，请检查文档。"}}),
    "dashscope": (
        400,
        {"error": {"message": "<400> InternalError.Algo: The content field is a required field."}},
    ),
    "watsonx": (
        400,
        {"errors": [{"code": "json_type_error", "message": "'content' must be string"}]},
    ),
    "volcengine": (
        400,
        {"error": {"code": "InvalidParameter", "message": "One or more parameters are not valid"}},
    ),
    "japanese": (400, {"error": {"message": "リクエストの形式が正しくありません"}}),
    "russian": (422, {"error": {"message": "Некорректный запрос"}}),
    "french": (422, {"detail": "Requête mal formée"}),
    "a number": (400, {"code": 4711}),
    "a page": (400, "<html><body><h1>Something went wrong</h1></body></html>"),
    "nothing": (422, ""),
    "rust": (422, {"error": "data did not match any variant of untagged enum at line 1"}),
    "go": (400, {"error": "json: cannot unmarshal array into Go struct field"}),
    "trace id only": (400, {"trace": "0af7651916cd43dd8448eb211c80319c"}),
    "llama.cpp": (500, {"error": {"message": ROW + "{{ raise_exception }}"}}),
    "llama.cpp, no excerpt": (500, {"error": {"message": ROW}}),
    "llama.cpp, an excerpt": (500, {"error": {"message": "Unknown: {%- if x %}"}}),
    "a template": (500, {"error": {"message": "Internal error: cannot render the template"}}),
}

pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio"])


def refusal(name: str) -> Send:
    status, said = REFUSALS[name]
    return Send((said if isinstance(said, str) else json.dumps(said)).encode(), status=status)


def holds_results(body: Any) -> bool:
    """Whether a request has what a tool gave, in the form of any of the services."""
    said = json.dumps(body.get("messages") or body.get("input") or body.get("contents"))
    return any(
        word in said
        for word in ('"tool"', '"tool_result"', '"function_call_output"', '"functionResponse"')
    )


def strict(name: str) -> Any:
    """A server that refuses results of tools, with two calls to make and an answer."""
    left = [Say("", [("look", '{"name": "a"}')]), Say("", [("look", '{"name": "b"}')])]

    def answer(body: Any) -> Any:
        if holds_results(body):
            return refusal(name)
        return left.pop(0) if left else Say("It is b.")

    return answer


DOORS: dict[str, Any] = {
    "chat": over,
    "responses": lambda script, **how: over(script, make=openai_responses, **how),
    "anthropic": messages.over,
    "gemini": gemini_support.over,
}


@pytest.mark.parametrize("name", REFUSALS)
@pytest.mark.parametrize("door", DOORS)
async def test_a_run_goes_on_whatever_the_words(door: str, name: str) -> None:
    store = MemoryStore()
    async with DOORS[door](strict(name), retries=Retry(times=0)) as (model, server, _):
        who = Agent(model=model, tools=[look])
        done = await run(who, "What?", store=store, run_id="run")
        record = await load(store, "run")
        assert (await replay(who, "run", store=store)).trajectory.entries == record.entries
        asked = len(server.requests)
        again = await resume(who, "run", say="And?", store=store)
    assert (done.answer, again.answer) == ("It is b.", "It is b.")
    assert len(server.requests) == asked + 1  # it is known by now
    adapted = [one.event.reply.adapted for one in record.entries if isinstance(one.event, Thought)]
    assert adapted[0] is None
    assert adapted[-1] is not None
    assert "text" in adapted[-1].what


@pytest.mark.parametrize("name", sorted(REFUSALS.keys() - {"volcengine"}))  # schemas come before
async def test_where_that_does_not_help_the_first_error_is_told(name: str) -> None:
    script: list[Any] = [refusal(name), *[Fail(400, "Another trouble.")] * 2]
    async with over(script, retries=Retry(times=0)) as (model, server, _):
        with pytest.raises(ModelError) as caught:
            await model.complete(spoken())
    assert [roles(seen) for seen in server.requests] == ["suattu", "su"]
    assert "Another trouble" not in str(caught.value)
    assert f"({REFUSALS[name][0]})" in str(caught.value)
    assert ("earlier steps are sent as text" in str(caught.value)) == (REFUSALS[name][0] != 500)


@pytest.mark.parametrize(
    ("said", "params"),
    [
        ("store: must be a boolean", {"store": "x"}),
        ("Invalid value for 'verbosity'", {"verbosity": "extreme"}),
        ("unsupported service_tier", {"service_tier": "vip"}),
        ("frequency_penalty is out of range", {"frequency_penalty": 9}),
        ("logit_bias: not a mapping", {"logit_bias": []}),
        ("min_p 参数有误", {"min_p": 3}),
        ("Insufficient balance", {}),
        ("账户余额不足", {}),
        ("Input data may contain inappropriate content.", {}),
        ("DataInspectionFailed", {}),
        ("模型不存在，请检查模型代码。", {}),
        ("Access denied, please make sure your account is in good standing.", {}),
    ],
)
async def test_what_is_about_something_else_is_told_at_once(said: str, params: Any) -> None:
    async with over([Fail(400, said)], settings=ModelSettings(extra=params)) as (model, server, _):
        with pytest.raises(ModelError, match="refused the request"):
            await model.complete(spoken())
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [404, 500])
async def test_of_other_statuses_words_are_asked(status: int) -> None:
    async with over([Fail(status, "odd")], retries=Retry(times=0)) as (model, server, _):
        with pytest.raises(ModelError):
            await model.complete(spoken())
    assert len(server.requests) == 1


async def test_without_earlier_steps_there_is_nothing_to_try() -> None:
    prompt = Prompt((Part("system", "Be brief."), Part("user", "What?")), ())
    async with over([refusal("siliconflow")]) as (model, server, _):
        with pytest.raises(ModelError, match="The parameter is invalid"):
            await model.complete(prompt)
    assert len(server.requests) == 1


UNREADABLE = [
    Fail(400, "Failed to call a function. See 'failed_generation'.", "tool_use_failed"),
    Fail(400, "tool call validation failed: attempted to call tool 'lok'", "tool_use_failed"),
    Fail(400, "Failed to parse tool call arguments as JSON", "tool_use_failed"),
    Fail(400, "Failed to generate JSON. Please adjust your prompt.", "json_validate_failed"),
    Fail(422, "Tool call validation failed: parameters for tool look did not match schema"),
    Fail(500, "Failed to parse input at pos 0: <tool_call>"),
    Send(
        json.dumps(
            {
                "error": {
                    "message": "Provider returned error",
                    "metadata": {"raw": '{"error":{"code":"tool_use_failed","message":"Failed"}}'},
                }
            }
        ).encode(),
        status=400,
    ),
]


@pytest.mark.parametrize("fault", UNREADABLE)
async def test_a_reply_that_the_provider_could_not_read_is_asked_for_again(fault: Any) -> None:
    async with over([fault, Say("Ok.")]) as (model, server, waits):
        reply = await model.complete(spoken())
    assert (reply.text, reply.adapted, len(waits)) == ("Ok.", None, 1)
    assert [roles(seen) for seen in server.requests] == ["suattu", "suattu"]


@pytest.mark.parametrize("fault", UNREADABLE)
async def test_one_that_is_never_readable_ends_in_its_own_words(fault: Any) -> None:
    async with over([fault] * 3, retries=Retry(times=2)) as (model, server, _):
        with pytest.raises(ModelError, match=r"could not read what the model wrote .*3 tries"):
            await model.complete(spoken())
    assert len(server.requests) == 3
