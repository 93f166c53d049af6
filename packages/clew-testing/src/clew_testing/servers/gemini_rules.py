"""What the Gemini API refuses: the checks of `GeminiServer`, and the signatures that it issues.

Format: https://ai.google.dev/api/generate-content; messages follow what the service is known to
answer. A signature says which model made it, and for a call, which call: where it comes back beside
anything else, it has been altered.
"""

import base64
import hashlib
import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from clew.interfaces import Json
from clew_testing.servers.http_server import to_json

STAND_INS: Final = frozenset(
    {"skip_thought_signature_validator", "context_engineering_is_the_way_to_go"}
)
"""What is taken in the place of a signature, for calls that came from elsewhere."""

OLDER: Final = re.compile(r"(?:.*/)?(?:gemini-[12]\b|gemma)")
"""Models that do without signatures, and cannot both call functions and write in a form."""

UNTHINKING: Final = re.compile(r"(?:.*/)?(?:gemini-(?:1|2\.0)\b|gemma)")

_URL_SAFE: Final = str.maketrans("-_", "+/")
_NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}")
_MODES: Final = frozenset({"AUTO", "NONE", "ANY", "VALIDATED"})

_TOP: Final = frozenset(
    {
        *("contents", "systemInstruction", "tools", "toolConfig", "generationConfig"),
        *("safetySettings", "cachedContent", "serviceTier", "store", "labels"),
    }
)
_CONTENT: Final = frozenset({"role", "parts"})
_DATA: Final = frozenset(
    {
        *("text", "functionCall", "functionResponse", "inlineData", "fileData"),
        *("executableCode", "codeExecutionResult", "toolCall", "toolResponse"),
    }
)
_PART: Final = _DATA | {"thought", "thoughtSignature", "partMetadata", "mediaResolution"}
_KEYS: Final[Mapping[str, frozenset[str]]] = {
    "functionCall": frozenset({"id", "name", "args"}),
    "functionResponse": frozenset({"id", "name", "response", "parts", "scheduling"}),
    "inlineData": frozenset({"mimeType", "data", "displayName"}),
}
_CONFIG: Final = frozenset(
    {
        *("temperature", "topP", "topK", "candidateCount", "maxOutputTokens", "stopSequences"),
        *("responseMimeType", "responseSchema", "responseJsonSchema", "presencePenalty"),
        *("frequencyPenalty", "seed", "logprobs", "responseLogprobs", "thinkingConfig"),
        *("responseModalities", "mediaResolution", "speechConfig", "imageConfig"),
    }
)
_DECLARED: Final = frozenset(
    {
        *("name", "description", "parameters", "parametersJsonSchema", "behavior"),
        *("response", "responseJsonSchema"),
    }
)
_UNHELD: Final = frozenset(
    {
        *("const", "pattern", "minLength", "maxLength", "exclusiveMinimum", "exclusiveMaximum"),
        *("multipleOf", "uniqueItems", "allOf", "not", "if", "patternProperties", "contains"),
    }
)
"""Keywords that no reply can be held to."""


class GeminiRefusal(Exception):  # noqa: N818 - the server's answer, not a fault of the program
    """The request is refused with status 400."""


def sign(model: str, part: Mapping[str, Any]) -> str:
    """The signature of a part that the model makes: of its call, or of a thought that ends here."""
    call: Mapping[str, Any] = part.get("functionCall") or {}
    signed: list[Any] = [model, call.get("name"), call.get("args") or {}]
    digest = hashlib.sha256(to_json(signed)).digest()
    return base64.b64encode(b"thought:" + digest).decode()


def check(body: Any, model: str) -> None:
    """Raise `GeminiRefusal` for a body that the API would refuse."""
    known = _object(body, "")
    _known_keys(known, _TOP, "")
    if not (contents := _array(known.get("contents"))):
        raise GeminiRefusal("* GenerateContentRequest.contents: contents is not specified")
    names = _check_tools(known)
    _check_config(_object(known.get("generationConfig", {}), "generation_config"), names, model)
    if "systemInstruction" in known:
        _check_content(known["systemInstruction"], "system_instruction", model)
    for index, content in enumerate(contents):
        _check_content(content, f"contents[{index}]", model)
    _check_turns(contents)
    if not OLDER.match(model):
        _check_signed(contents)


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        at = f" at '{where}'" if where else ""
        raise GeminiRefusal(
            f"Invalid JSON payload received. Invalid value{at}: an object is expected."
        )
    return cast("dict[str, Any]", value)


def _array(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType] # mypy calls the cast that helps pyright redundant


def _known_keys(value: Mapping[str, Any], known: frozenset[str], where: str) -> None:
    if odd := sorted(value.keys() - known):
        at = f" at '{where}'" if where else ""
        raise GeminiRefusal(
            f'Invalid JSON payload received. Unknown name "{odd[0]}"{at}: Cannot find field.'
        )


def _check_tools(body: Mapping[str, Any]) -> list[str]:
    """The names of the functions declared."""
    names: list[str] = []
    for index, tool in enumerate(_array(body.get("tools"))):
        known = _object(tool, f"tools[{index}]")
        _known_keys(
            known, frozenset({"functionDeclarations", "googleSearch", "codeExecution"}), "tools"
        )
        for number, declared in enumerate(_array(known.get("functionDeclarations"))):
            names.append(_check_declared(declared, f"tools[{index}].[{number}]"))
            if names[-1] in names[:-1]:
                raise GeminiRefusal(f"Duplicate function declaration found: {names[-1]}")
    if "toolConfig" in body:
        config = _object(body["toolConfig"], "tool_config").get("functionCallingConfig", {})
        mode = _object(config, "tool_config.function_calling_config").get("mode", "AUTO")
        if mode not in _MODES:
            raise GeminiRefusal(
                f"Invalid value at 'tool_config.function_calling_config.mode': {mode!r}"
            )
        if not names:
            raise GeminiRefusal("Function calling config is set without function_declarations.")
    return names


def _check_declared(declared: Any, where: str) -> str:
    known = _object(declared, where)
    _known_keys(known, _DECLARED, where)
    name = known.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise GeminiRefusal(
            f"* GenerateContentRequest.{where}.name: Invalid function name. Must start with a "
            "letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots "
            "(.), colons (:), or dashes (-), with a maximum length of 128."
        )
    if "parameters" in known and "parametersJsonSchema" in known:
        raise GeminiRefusal(
            f"{where}: parameters and parameters_json_schema are mutually exclusive"
        )
    schema = known.get("parametersJsonSchema", {"type": "object"})
    if _object(schema, where).get("type") != "object":
        raise GeminiRefusal(
            f"* GenerateContentRequest.{where}.parameters: schema should be an object"
        )
    return name


def _check_config(config: Mapping[str, Any], names: Sequence[str], model: str) -> None:
    _known_keys(config, _CONFIG, "generation_config")
    stops = _array(config.get("stopSequences"))
    if len(stops) > 5 or not all(isinstance(stop, str) and stop for stop in stops):
        raise GeminiRefusal("stop_sequences: at most 5 texts are allowed, none of them empty")
    mime = config.get("responseMimeType")
    if mime == "application/json" and names and OLDER.match(model):
        raise GeminiRefusal(
            "Function calling with a response mime type: 'application/json' is unsupported"
        )
    if "responseJsonSchema" in config:
        if mime != "application/json":
            raise GeminiRefusal("response_json_schema is only supported with application/json")
        if odd := _unsupported_keyword(config["responseJsonSchema"]):
            raise GeminiRefusal(f"response_json_schema: the keyword {odd!r} is not supported")
    if "thinkingConfig" in config and UNTHINKING.match(model):
        raise GeminiRefusal("Thinking is not enabled for this model")


def _unsupported_keyword(schema: Any) -> str:
    """A keyword in a schema that no reply can be held to, or ""."""
    keywords: list[str] = []
    waiting: list[Any] = [schema]
    while waiting:
        one: Any = waiting.pop()
        if isinstance(one, list):
            waiting += _array(one)
        elif isinstance(one, dict):
            known = cast("dict[str, Any]", one)
            keywords += sorted(known.keys() & _UNHELD)
            if "$ref" in known:
                keywords += [key for key in known if not key.startswith("$")]
            named: dict[str, Any] = known.get("properties", {})
            waiting += [*named.values(), *(known[key] for key in known if key != "properties")]
    return keywords[0] if keywords else ""


def _check_content(content: Any, where: str, model: str) -> None:
    known = _object(content, where)
    _known_keys(known, _CONTENT, where)
    role = known.get("role", "user")
    if role not in {"user", "model"}:
        raise GeminiRefusal(f"Please use a valid role: user, model. ({where}: {role!r})")
    if not (parts := _array(known.get("parts"))):
        raise GeminiRefusal(
            f"* GenerateContentRequest.{where}.parts: contents.parts must not be empty."
        )
    for number, part in enumerate(parts):
        _check_part(part, f"{where}.parts[{number}]", role, model)


def _check_part(part: Any, where: str, role: str, model: str) -> None:
    known = _object(part, where)
    _known_keys(known, _PART, where)
    data: list[str] = sorted(known.keys() & _DATA)
    if len(data) != 1:
        raise GeminiRefusal(
            f"* GenerateContentRequest.{where}.data: required oneof field 'data' must "
            "have one initialized field"
        )
    kind = data[0]
    value: Any = known[kind]
    if kind == "text":
        if not isinstance(value, str) or not (value or "thoughtSignature" in known):
            raise GeminiRefusal(
                f"Unable to submit request: {where} must have a text that is not empty"
            )
    else:
        inner = _object(value, where)
        _known_keys(inner, _KEYS.get(kind, frozenset(inner)), f"{where}.{kind}")
    if (kind == "functionCall") > (role == "model"):
        raise GeminiRefusal(f"{where}: a function call is only allowed in a turn of the model")
    if (kind == "functionResponse") > (role == "user"):
        raise GeminiRefusal(f"{where}: a function response is only allowed in a turn of the user")
    if kind in {"functionCall", "functionResponse"}:
        _check_function(kind, known[kind], where)
        if known[kind].get("parts") and re.match(r"gemini-[12]\b", model):
            raise GeminiRefusal("Multimodal function responses are not supported for this model.")
    if kind == "inlineData" and not {"mimeType", "data"} <= known[kind].keys():
        raise GeminiRefusal(f"{where}.inline_data: mime_type and data are required")
    signature = known.get("thoughtSignature")
    if signature is None or signature in STAND_INS:
        return
    either = str(signature).translate(_URL_SAFE)  # as the official client writes them
    if either != sign(model, known):
        raise GeminiRefusal("Corrupted thought signature.")


def _check_function(kind: str, value: Mapping[str, Any], where: str) -> None:
    name = value.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise GeminiRefusal(
            f"* GenerateContentRequest.{where}.{kind}.name: invalid or missing name"
        )
    needed = "args" if kind == "functionCall" else "response"
    if needed == "response" and "response" not in value:
        raise GeminiRefusal(f"{where}.{kind}: response is required")
    _object(value.get(needed, {}), f"{where}.{kind}.{needed}")


def _check_turns(contents: Sequence[Mapping[str, Any]]) -> None:
    """That the turns alternate, and that each turn with calls is followed by all its responses."""
    roles = [content.get("role", "user") for content in contents]
    if any(one == other for one, other in itertools.pairwise(roles)):
        raise GeminiRefusal(
            "Please ensure that multiturn requests alternate between user and model."
        )
    if roles[0] != "user":
        raise GeminiRefusal(
            "Please ensure that function call turn comes immediately after a user turn or after a "
            "function response turn."
        )
    if roles[-1] != "user":
        raise GeminiRefusal(
            "Please ensure that multiturn requests end with a user role or a function response."
        )
    calls: list[Mapping[str, Any]] = []
    for content in contents:
        responses = _all(content, "functionResponse")
        if responses and not calls:
            raise GeminiRefusal(
                "Please ensure that function response turn comes immediately after a function call "
                "turn."
            )
        if len(responses) != len(calls):
            raise GeminiRefusal(
                "Please ensure that the number of function response parts is equal to the number "
                "of function call parts of the function call turn."
            )
        for call, response in zip(calls, responses, strict=True):
            if (call["name"], call.get("id")) != (response["name"], response.get("id")):
                raise GeminiRefusal(
                    "Please ensure that each function response has the name and the id of its "
                    f"function call: {response['name']} does not answer {call['name']}."
                )
        calls = _all(content, "functionCall")


def _all(content: Mapping[str, Any], kind: str) -> list[Mapping[str, Any]]:
    return [part[kind] for part in content["parts"] if kind in part]


def _check_signed(contents: Sequence[Mapping[str, Any]]) -> None:
    """That the first call of each step of the current turn has a signature.

    A turn begins with what a person says; notes beside function responses begin none.
    """
    for index in range(len(contents) - 1, -1, -1):
        content = contents[index]
        if content.get("role", "user") == "user":
            if not _all(content, "functionResponse"):
                return
            continue
        first: Json = next((part for part in content["parts"] if "functionCall" in part), None)
        if first is not None and "thoughtSignature" not in first:
            name = first["functionCall"]["name"]
            raise GeminiRefusal(
                "Function call is missing a thought_signature in functionCall parts. This is "
                "required for tools to work correctly, and missing thought_signature may lead to "
                "degraded model performance. Additional data, function call "
                f"`default_api:{name}`, position {index}."
            )
