"""Evidence: whether the record supports what an answer says."""

from clew.evidence.audit import THRESHOLD, Audit, Audited, CheckedFact, audit
from clew.evidence.check import CANNOT_ANSWER, Entailment, Entails, Grounded, examined
from clew.evidence.claims import Claim, claims
from clew.evidence.facts import Fact, facts, normal
from clew.evidence.normalise import normalised
from clew.evidence.support import FactSource

__all__ = [
    "CANNOT_ANSWER",
    "THRESHOLD",
    "Audit",
    "Audited",
    "CheckedFact",
    "Claim",
    "Entailment",
    "Entails",
    "Fact",
    "FactSource",
    "Grounded",
    "audit",
    "claims",
    "examined",
    "facts",
    "normal",
    "normalised",
]
