"""Plain completions (`POST /completions`), with what the API refuses: a form of `OpenAIServer`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from clew_testing.servers.http_server import Fail, ReceivedRequest, Say, sse, to_json
from clew_testing.servers.openai_rules import OpenAIRefusal
from clew_testing.servers.openai_service import CREATED, DONE, FINISH, Access, chat_usage, words

_KEYS: Final = frozenset(
    {"model", "prompt", "max_tokens", "temperature", "top_p", "stop", "stream", "stream_options"}
    | {"seed", "n", "best_of", "echo", "suffix", "logprobs", "logit_bias", "user"}
    | {"presence_penalty", "frequency_penalty"}
)


@dataclass(frozen=True)
class Completions:
    """Completions of a text. There is no place for calls: those of a `Say` are left out.

    `also` are keys that the server takes beside OpenAI's, as those that run models themselves do.
    """

    access: Access
    also: frozenset[str] = frozenset()

    def refuse(self, seen: ReceivedRequest) -> Fail | None:
        return self.access.refuse(seen, lambda body: check(body, self.also))

    def streams(self, seen: ReceivedRequest) -> bool:
        return bool(seen.body.get("stream"))

    def full_body(self, say: Say, seen: ReceivedRequest) -> bytes:
        complete = _frame(say, seen.body) | {"choices": [_choice(say.text or "", _reason(say))]}
        usage = {} if say.usage == {} else {"usage": chat_usage(say, seen.body["prompt"])}
        return to_json(complete | usage)

    def events(self, say: Say, seen: ReceivedRequest) -> Iterator[bytes]:
        frame = _frame(say, seen.body)
        for word in words(say.text or ""):
            yield sse(frame | {"choices": [_choice(word, None)]})
        yield sse(frame | {"choices": [_choice("", _reason(say))]})
        options: dict[str, Any] = seen.body.get("stream_options") or {}
        if options.get("include_usage") and say.usage != {}:
            none: list[Any] = []
            yield sse(frame | {"choices": none, "usage": chat_usage(say, seen.body["prompt"])})
        yield DONE


def check(body: Any, also: frozenset[str] = frozenset()) -> None:
    """Raise `OpenAIRefusal` for a body that the API would refuse."""
    if not isinstance(body, dict):
        raise OpenAIRefusal("We could not parse the JSON body of your request.")
    known = cast("dict[str, Any]", body)
    if odd := sorted(known.keys() - _KEYS - also):
        raise OpenAIRefusal(f"Unrecognized request argument supplied: {odd[0]}", odd[0])
    if not isinstance(known.get("model"), str) or not known["model"]:
        raise OpenAIRefusal("you must provide a model parameter", "model")
    if not isinstance(known.get("prompt"), str) or not known["prompt"]:
        raise OpenAIRefusal("you must provide a prompt", "prompt")
    max_tokens = known.get("max_tokens", 16)
    if not isinstance(max_tokens, int) or max_tokens < 1:
        raise OpenAIRefusal(
            f"Invalid 'max_tokens': {max_tokens!r}. Expected an integer >= 1.", "max_tokens"
        )
    stop: Any = known.get("stop", "")
    if not isinstance(stop, str) and not 1 <= len(stop) <= 4:
        raise OpenAIRefusal("Invalid 'stop': expected an array of 1 to 4 strings.", "stop")
    if "stream_options" in known and not known.get("stream"):
        raise OpenAIRefusal(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
            "stream_options",
        )


def _frame(say: Say, body: Mapping[str, Any]) -> dict[str, Any]:
    model = say.model or body["model"]
    return {"id": "cmpl-0", "object": "text_completion", "created": CREATED, "model": model}


def _choice(text: str, finish: str | None) -> dict[str, Any]:
    return {"index": 0, "text": text, "logprobs": None, "finish_reason": finish}


def _reason(say: Say) -> str | None:
    return say.finish and FINISH.get(say.finish, say.finish) if say.finish != "" else "stop"
