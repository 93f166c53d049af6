"""Contract tests for models, formats, stores and strategies.

Await each with a function that opens or makes a new one; call `check_codec` with the codec itself.
"""

from clew_testing.codec_contract import check_codec
from clew_testing.model_contract import (
    BASICS,
    CALLS,
    LOOPS,
    SAYS,
    THINKS,
    ModelFactory,
    Script,
    check_model,
)
from clew_testing.store_claims import check_claims
from clew_testing.store_contract import check_store
from clew_testing.store_prunes import AT_ONCE, PRUNES, check_prunes
from clew_testing.strategy_contract import check_strategy

__all__ = [
    "AT_ONCE",
    "BASICS",
    "CALLS",
    "LOOPS",
    "PRUNES",
    "SAYS",
    "THINKS",
    "ModelFactory",
    "Script",
    "check_claims",
    "check_codec",
    "check_model",
    "check_prunes",
    "check_store",
    "check_strategy",
]
