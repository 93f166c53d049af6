"""A model in this process, as any other: a prompt goes in, a reply comes out."""

import copy
from dataclasses import replace
from typing import Final

from clew import ConfigError, ModelSettings
from clew.interfaces import ModelInfo, OnText, Prompt, Reply
from clew.models import Price
from clew.models.http.endpoint import Endpoint, HttpSettings
from clew.models.openai.chat import ChatApi
from clew.models.openai.client import openai_endpoint
from clew.support.errors import TooLongError
from clew_local.api import LocalApi, ahead_of_calls, with_calls
from clew_local.weights import Weights

FREE: Final = Price(0, 0)

USUAL: Final = ModelSettings(max_tokens=1_024, timeout=3_600.0)
"""The length of a reply, and the seconds until its first token, where the settings name none: a
processor reads a long prompt for minutes."""


class LocalModel:
    """A model file as `local:NAME`. It is loaded with its first prompt.

    It always streams: so a reply that nobody waits for any longer ends within a token or two.
    """

    def __init__(self, name: str, weights: Weights, settings: HttpSettings) -> None:
        told = ModelSettings.of(settings.get("settings")).over(USUAL)
        self.info = ModelInfo(
            f"local:{name}",
            {**told.recorded, "grammar": weights.settings.grammar},
            priced=True,
            rates=FREE.rates,
            validate=self._validate,
            billions=weights.header.weights / 1e9,
            window=weights.context,
            takes=frozenset(),
        )
        self._weights = weights
        self._api = LocalApi(ChatApi("local", name, told))
        self._settings = HttpSettings({**settings, "prices": {name: FREE}})
        # Its server closes connections that wait, just when the next request may go out.
        self._settings["headers"] = {**(settings.get("headers") or {}), "connection": "close"}
        self._endpoint: Endpoint | None = None

    @property
    def loaded(self) -> bool:
        """Whether its file is in memory."""
        return bool(self._weights.address)

    def with_settings(self, settings: ModelSettings) -> "LocalModel":
        """The same file, loaded once, with these settings over its own. Raises `ConfigError`."""
        made = copy.copy(self)
        made._tell(settings.over(self._api.settings))  # noqa: SLF001 - another one of this class
        return made

    def _tell(self, told: ModelSettings) -> None:
        self._api, self._endpoint = self._api.with_settings(told), None
        params = {**told.recorded, "grammar": self.info.params["grammar"]}
        self.info = replace(self.info, params=params, validate=self._validate)

    def _validate(self, prompt: Prompt) -> None:
        """Raise `ConfigError` where the chat template has no place for the prompt's tools."""
        header, name = self._weights.header, self.info.name
        if not header.template:
            message = f"{name}: the file has no chat template: take an instruct model"
            raise ConfigError(message)
        if prompt.tools and not header.knows_tools:
            message = (
                f"{name}: its chat template knows no tools: choose a text codec, such as "
                "codec='json' (--codec json)"
            )
            raise ConfigError(message)

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """Complete the prompt. Raises `ModelError`, `ConfigError` where it cannot be loaded."""
        await self._weights.load()
        if self._endpoint is None:
            self._endpoint = openai_endpoint(
                self._api,
                base_url=f"{self._weights.address}/v1",
                api_key=self._weights.key,
                api_version="",
                key_variable="",
                client=None,
                settings=self._settings,
            )
        hear = on_text or _discard_text
        try:
            if not prompt.tools:
                reply = await self._endpoint.complete(prompt, hear)
            else:
                reply = with_calls(await self._endpoint.complete(prompt, ahead_of_calls(hear)))
        except TooLongError as error:
            trained, max_context = self._weights.header.context, self._weights.context
            message = (
                f"{self.info.name}: prompt and reply do not fit the {max_context:,} tokens that "
                f"each run has: raise CLEW_LOCAL_CONTEXT (the model was trained for {trained:,})"
            )
            raise TooLongError(message) from error
        self._weights.replied()
        return reply

    async def close(self) -> None:
        """Close the connections to it; it is unloaded once nothing refers to it any longer."""
        await self._weights.finish()
        if self._endpoint is not None:
            await self._endpoint.close()


def _discard_text(text: str) -> bool:
    """Nobody listens, and all of it is wanted."""
    del text
    return False
