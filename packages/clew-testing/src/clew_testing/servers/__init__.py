"""Local servers that answer from a script as providers do, for tests with a real client.

The turns of a script are independent of providers: `Say`, `Send`, `Fail`, `Cut`, `Drop` or `Delay`.
"""

from clew_testing.servers.anthropic_batches import AnthropicBatchServer
from clew_testing.servers.anthropic_server import AnthropicServer
from clew_testing.servers.azure_server import AzureServer
from clew_testing.servers.gemini_server import GeminiServer
from clew_testing.servers.http_server import (
    CompletionKind,
    Cut,
    Delay,
    Drop,
    Fail,
    HttpServer,
    ReceivedRequest,
    Say,
    Script,
    Send,
    Service,
    Turn,
)
from clew_testing.servers.openai_batches import OpenAIBatchServer
from clew_testing.servers.openai_server import OpenAIServer

__all__ = [
    "AnthropicBatchServer",
    "AnthropicServer",
    "AzureServer",
    "CompletionKind",
    "Cut",
    "Delay",
    "Drop",
    "Fail",
    "GeminiServer",
    "HttpServer",
    "OpenAIBatchServer",
    "OpenAIServer",
    "ReceivedRequest",
    "Say",
    "Script",
    "Send",
    "Service",
    "Turn",
]
