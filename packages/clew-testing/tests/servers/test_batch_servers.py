"""The servers of batch interfaces, asked by the official clients themselves."""

import json
from typing import Any

import anthropic
import openai
import pytest

from clew_testing.servers import AnthropicBatchServer, Fail, OpenAIBatchServer, Say, Turn


def echo(body: dict[str, Any]) -> Turn:
    """The last message again; "no" is refused."""
    text = body["messages"][-1]["content"]
    return Fail(400, "not that") if text == "no" else Say(text)


def asked(text: str) -> Any:
    return {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": text}]}


def lines(*texts: str, custom_id: str = "") -> bytes:
    head = {"method": "POST", "url": "/v1/chat/completions"}
    named = [{"custom_id": custom_id or text, **head, "body": asked(text)} for text in texts]
    return "\n".join(map(json.dumps, named)).encode()


def test_openais_client_does_a_batch() -> None:
    with (
        OpenAIBatchServer(echo, key="k") as server,
        openai.OpenAI(base_url=server.base_url, api_key="k", max_retries=0) as client,
    ):
        file = client.files.create(file=("a.jsonl", lines("a", "b", "no")), purpose="batch")
        made = client.batches.create(
            input_file_id=file.id,
            endpoint="/v1/chat/completions",
            completion_window="24h",
            metadata={"mark": "x"},
        )
        assert [one.metadata for one in client.batches.list()] == [{"mark": "x"}]
        done = client.batches.retrieve(made.id)
        assert done.status == "completed"
        assert done.output_file_id
        assert done.error_file_id
        replies = client.files.content(done.output_file_id).text.splitlines()
        errors = client.files.content(done.error_file_id).text.splitlines()
        assert {json.loads(line)["custom_id"] for line in replies} == {"a", "b"}
        assert [json.loads(line)["response"]["status_code"] for line in errors] == [400]
        twice = ("a.jsonl", lines("a", "b", custom_id="same"))
        file = client.files.create(file=twice, purpose="batch")
        wrong = client.batches.create(
            input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h"
        )
        assert wrong.status == "failed"
        assert wrong.errors
        assert wrong.errors.data
        assert wrong.errors.data[0].code == "duplicate_custom_id"
        with pytest.raises(openai.BadRequestError, match="is not one of"):
            client.files.create(file=("a.jsonl", b"{}"), purpose="assistants")


def test_anthropics_client_does_a_batch() -> None:
    with (
        AnthropicBatchServer(echo, key="k") as server,
        anthropic.Anthropic(base_url=server.base_url, api_key="k", max_retries=0) as client,
    ):
        batches = client.messages.batches
        requests: Any = [{"custom_id": text, "params": asked(text)} for text in ("a", "b", "no")]
        made = batches.create(requests=requests)
        assert made.processing_status == "in_progress"
        assert made.request_counts.processing == 3
        done = batches.retrieve(made.id)
        assert done.processing_status == "ended"
        results = {one.custom_id: one.result.type for one in batches.results(made.id)}
        assert results == {"a": "succeeded", "b": "succeeded", "no": "errored"}
        for custom_id, why in (("a b", "pattern"), ("a", "not unique")):
            wrong: Any = [{"custom_id": custom_id, "params": asked("a")}] * 2
            with pytest.raises(anthropic.BadRequestError, match=why):
                batches.create(requests=wrong)
