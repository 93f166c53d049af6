"""The `.env` of a folder: keys of providers are taken from it, and nothing that says where to.

Whoever can write to a folder can write its `.env`. An address, a proxy or a file of certificates
from there could send the keys of the environment, and all questions, to somebody else.
"""

import logging
import os
import re
from collections.abc import Iterable
from io import StringIO
from pathlib import Path
from typing import Final

from dotenv import dotenv_values, find_dotenv
from dotenv.parser import parse_stream

from clew import ConfigError
from clew.cli.errors import EnvFile
from clew.models import available

LOG: Final = logging.getLogger("clew")

_KEY: Final = re.compile(r"[A-Z][A-Z0-9_]*_API_KEY")
NUMBERS: Final = ("CLEW_RATE", "CLEW_TIMEOUT")
"""Settings that say how often and how long a server is asked, and not which one."""

_OF_CONNECTIONS: Final = re.compile(
    r"CLEW_.*|OTEL_.*|(?:HTTPS?|ALL|NO|FTP)_PROXY|SSL_CERT_(?:FILE|DIR)|(?:REQUESTS|CURL)_CA_BUNDLE"
    r"|HF_ENDPOINT|.*_(?:BASE_URL|ENDPOINT|API_BASE)",
    re.IGNORECASE,
)
"""Variables that somebody may miss if they are passed over in silence."""


_LARGEST: Final = 1_000_000
"""Bytes that are read: a file of settings is no larger, and a folder may hold any."""


def read_env() -> EnvFile:
    """Read the `.env` of this folder or the nearest above it.

    Only keys of providers, CLEW_RATE and CLEW_TIMEOUT are taken from it, and only what the
    environment does not say already. A line that cannot be read is passed over, and told; so is a
    setting of clew's that is not taken.
    """
    path = find_dotenv(usecwd=True)
    if not path:
        return EnvFile()
    if not Path(path).is_file():  # a pipe, which nobody may ever write to
        LOG.warning("%s is no file: passed over", path)
        return EnvFile()
    try:
        text = _text(path)
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path} cannot be read ({error}): mend it or move it away"
        raise ConfigError(message) from error
    _tell_broken(path, text)
    values = dotenv_values(stream=StringIO(text), interpolate=False)
    allowed = _taken(values)
    known = tuple(name for name in values if name in os.environ)
    taken = tuple(name for name in values if name in allowed and name not in known)
    for name in taken:
        os.environ[name] = _value(path, name, values[name] or "")
    passed = tuple(
        name for name in values if name not in allowed and _OF_CONNECTIONS.fullmatch(name)
    )
    _tell_passed(path, [name for name in passed if name not in known])
    return EnvFile(path, taken, tuple(name for name in known if name in allowed), passed)


def _text(path: str) -> str:
    with Path(path).open("rb") as file:
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise ConfigError(f"{path} cannot be read (it is larger than {_LARGEST:,} bytes): move it")
    return data.decode("utf-8")


def _value(path: str, name: str, text: str) -> str:
    """A value as a variable may hold it. Raises `ConfigError`, without the value."""
    if not text.isprintable():
        message = f"{path}: the value of {name} holds a control character: write it on one line"
        raise ConfigError(message)
    return text


def _taken(names: Iterable[str]) -> set[str]:
    """The names of keys that providers of clew have, and of what says how often they are asked."""
    taken = {name for name in names if _KEY.fullmatch(name) or name in NUMBERS}
    rest = [name for name in names if name not in taken and name.endswith(("KEY", "TOKEN"))]
    return taken | {name for name in rest for info in available({name: "?"}) if info.key == name}


def _tell_passed(path: str, names: Iterable[str]) -> None:
    """Tell which settings of clew's, and of connections, are not taken from a folder."""
    if missed := ", ".join(names):
        LOG.warning(
            "%s: %s not taken: a folder gives keys only; set it in the environment", path, missed
        )


def _tell_broken(path: str, text: str) -> None:
    """Tell the lines that say nothing: without their text, which may hold a key."""
    logging.getLogger("dotenv").addHandler(logging.NullHandler())  # which names no file
    for one in parse_stream(StringIO(text)):
        if one.error:
            lost = one.original.string
            line = one.original.line + len(lost) - len(lost.lstrip("\n"))
            LOG.warning("%s, line %d is passed over: write NAME=value", path, line)
