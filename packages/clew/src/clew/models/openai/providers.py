"""OpenAI, and all whose servers speak its Chat Completions."""

from typing import Any, Final

from clew.models.provider import Provider

FORMATS: Final = {
    "responses": "clew.models.openai.responses:openai_responses",
    "completions": "clew.models.openai.completions:openai_completions",
}
"""OpenAI's other formats, asked for by their name behind that of a provider."""


def chat_provider(name: str, base_url: str, address: str, **more: Any) -> Provider:
    """A provider whose server speaks Chat Completions."""
    return Provider(
        name,
        "clew.models.openai.chat:openai_chat",
        "openai",
        "openai",
        base_url,
        address,
        formats=FORMATS,
        **more,
    )


OPENAI: Final = chat_provider(
    "openai",
    "https://api.openai.com/v1",
    "OPENAI_BASE_URL",
    key="OPENAI_API_KEY",
    model="gpt-4.1-mini",
    rank=1,
)
AZURE: Final = chat_provider(
    "azure",
    "",
    "AZURE_OPENAI_ENDPOINT",
    key="AZURE_OPENAI_API_KEY",
    more={"api_version": "AZURE_OPENAI_API_VERSION"},
    rank=4,
)
OPENROUTER: Final = chat_provider(
    "openrouter",
    "https://openrouter.ai/api/v1",
    "OPENROUTER_BASE_URL",
    key="OPENROUTER_API_KEY",
    model="openrouter/auto",
    rank=5,
)
DEEPSEEK: Final = chat_provider(
    "deepseek",
    "https://api.deepseek.com",
    "DEEPSEEK_BASE_URL",
    key="DEEPSEEK_API_KEY",
    model="deepseek-flash",
    rank=6,
)
MISTRAL: Final = chat_provider(
    "mistral",
    "https://api.mistral.ai/v1",
    "MISTRAL_BASE_URL",
    key="MISTRAL_API_KEY",
    model="mistral-large-latest",
    rank=7,
)
GROQ: Final = chat_provider(
    "groq",
    "https://api.groq.com/openai/v1",
    "GROQ_BASE_URL",
    key="GROQ_API_KEY",
    model="llama-3.3-70b-versatile",
    rank=8,
)
TOGETHER: Final = chat_provider(
    "together",
    "https://api.together.xyz/v1",
    "TOGETHER_BASE_URL",
    key="TOGETHER_API_KEY",
    model="meta-llama/Llama-3.3-70B-Instruct-Turbo",
    rank=9,
)
DASHSCOPE: Final = chat_provider(
    "dashscope",
    "https://dashscope.aliyuncs.com/compatible-mode/v1",
    "DASHSCOPE_BASE_URL",
    key="DASHSCOPE_API_KEY",
    model="qwen-plus",
    rank=10,
)
DASHSCOPE_INTL: Final = chat_provider(
    "dashscope-intl",
    "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    "DASHSCOPE_INTL_BASE_URL",
    key="DASHSCOPE_INTL_API_KEY",
    model="qwen-plus",
    rank=11,
)
OLLAMA: Final = chat_provider(
    "ollama", "http://localhost:11434/v1", "OLLAMA_BASE_URL", probed=True, rank=12
)
LLAMACPP: Final = chat_provider(
    "llamacpp", "http://localhost:8080/v1", "LLAMACPP_BASE_URL", probed=True, rank=13
)
VLLM: Final = chat_provider(
    "vllm",
    "http://localhost:8000/v1",
    "VLLM_BASE_URL",
    rank=14,
)
LMSTUDIO: Final = chat_provider(
    "lmstudio", "http://localhost:1234/v1", "LMSTUDIO_BASE_URL", rank=15
)
