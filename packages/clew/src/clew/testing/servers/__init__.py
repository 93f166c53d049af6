"""Local servers that answer from a script as providers do, for tests with a real client.

The turns of a script are independent of providers: `Say`, `Send`, `Fail`, `Cut`, `Drop` or `Stall`.
"""

from clew.testing.servers.anthropic_server import AnthropicServer
from clew.testing.servers.azure_server import AzureServer
from clew.testing.servers.gemini_server import GeminiServer
from clew.testing.servers.http_server import (
    Cut,
    Drop,
    Fail,
    Form,
    HttpServer,
    Say,
    Script,
    Seen,
    Send,
    Service,
    Stall,
    Turn,
)
from clew.testing.servers.openai_server import OpenAIServer

__all__ = [
    "AnthropicServer",
    "AzureServer",
    "Cut",
    "Drop",
    "Fail",
    "Form",
    "GeminiServer",
    "HttpServer",
    "OpenAIServer",
    "Say",
    "Script",
    "Seen",
    "Send",
    "Service",
    "Stall",
    "Turn",
]
