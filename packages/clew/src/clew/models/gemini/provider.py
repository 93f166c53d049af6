"""Google, before anything of it is loaded."""

from typing import Final

from clew.models.provider import Provider


def _list_request(variable: str, key: str) -> tuple[str, dict[str, str]]:
    del variable
    return "/v1beta/models?pageSize=1000", {"x-goog-api-key": key}


GOOGLE: Final = Provider(
    "google",
    "clew.models.gemini.model:google_gemini",
    "google.genai",
    "google",
    "https://generativelanguage.googleapis.com",
    "GOOGLE_GEMINI_BASE_URL",
    "GEMINI_API_KEY",
    "gemini-3.8-flash",
    first="GOOGLE_API_KEY",  # before the other in Google's own client too
    rank=3,
    list_request=_list_request,
)
