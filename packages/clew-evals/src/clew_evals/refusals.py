"""Whether an answer declines: it has none, what was asked about is not there, or it will not.

By fixed phrases, in English and the commonest of German, French, Spanish and Italian. What is
quoted does not count. An answer that declines and yet goes on to assert something declines: forbid
with `none_of` what it must not assert.
"""

import re
from typing import Final

from clew.evidence.words import flat
from clew.support.short_text import one_line

_QUOTED: Final = re.compile(
    r"“[^”]{0,500}”|«[^»]{0,500}»|„[^“”]{0,500}[“”]|(?<!\w)\"[^\"\n]{0,500}\"|`[^`\n]{0,500}`"
)
_APOSTROPHES: Final = str.maketrans("’ʼ‘`´", "'''''")

_PIECES: Final = {
    "i": r"(?:i|we)",
    "am": r"(?:i am|i'm|we are|we're)",
    "cannot": r"(?:cannot|can't|can not)",
    "could not": r"(?:could not|couldn't)",
    "does not": r"(?:(?:does|do|did) not|(?:does|do|did)n't)",
    "is": r"(?:is|are|was|were|be|been)",
    "ly": r"(?:\w+ly |even |still )?",
    "source": r"(?:evidence|notes?|documents?|documentation|sources?|passages?|texts?|corpus|files?"
    r"|records?|archives?|materials?|articles?|pages?|paragraphs?|excerpts?|results?|search(?:es)?"
    r"|context|database|catalogue|collection|information|data)",
    "say": r"(?:say|mention|state|contain|tell|give|cover|include|name|record|specify|describe"
    r"|provide|answer|list|show|reveal|hold|have|indicate|document|address|support|identify)s?",
    "told": r"(?:mentioned|stated|given|recorded|documented|covered|specified|included|contained"
    r"|found|listed|named|described|known|provided|said|available|there|present|told|disclosed)",
    "known": r"(?:stated|documented|specified|mentioned|found|disclosed|known|recorded)",
    "find out": r"(?:answer|find|determine|say|tell|verify|confirm|establish|work out|identify"
    r"|locate|know|calculate|compute|give|provide|see|help|do|comply|assist|share|reveal|disclose"
    r"|send|delete|write|make|follow|carry out|support|state|name|fulfill?|go|access|look|conclude"
    r"|recommend|guess|speculate|ignore|print|show|produce|create|discuss|describe|explain|offer"
    r"|participate|obey|act|change|invent|pretend|bypass|override)",
    "found out": r"(?:answered|determined|found|established|verified|confirmed|worked out"
    r"|calculated|said|told|known|identified|supported|decided|inferred|done|given)",
    "something": r"(?:evidence|information|mention|data|details|documentation)",
    "about": r"(?:of|about|on|for|that|in|to|says?|mentions?|states?|tells?|names?|describes?)",
    "unknown": r"(?:unknown|unclear|not known|undocumented|unspecified|unrecorded|unstated)",
    "is not": r"(?:(?:is|are|was|were|be|been) (?:\w+ly )?(?:not|nowhere|never)"
    r"|(?:is|are|was|were)n't)",
    "end": r"(?:\W|$)",
}
"""What stands in the place of a <name> in a phrase."""
_PIECES["here"] = (
    r"(?:in|by|within|among|from) (?:(?:the|your|my|these|those|this|any|all|either|available"
    rf"|provided|given) ){{0,3}}(?:\w+ ){{0,2}}?{_PIECES['source']}"
)

_PHRASES: Final = r"""
<i> (?:really |simply |therefore |also )?<ly><cannot> <ly><find out>
<i> <could not> <ly><find out>
(?:unable|not able) <ly>to <find out>
<i> <does not> (?:know|find|see any|have(?! to))
<i> (?:have|had|found|find|see|know of|could find|can find) (?:no|nothing|none)
(?:<cannot>|<could not>) be <ly><found out>
(?:impossible|not possible|no way|not enough to go on)(?: for me)? to <find out>
(?:unanswerable|not answerable|no answer|without an answer|cannot answer|can't answer)

(?:no|not any|insufficient|not enough|too little|lack of|without) (?:\w+ ){0,2}?<something>
no (?:\w+ )?(?:record|trace|note|document|passage|source|entry|reference|sign)s? <about>
(?:<is not>|not|never|nowhere) <ly><told>(?: \w+)? <here>
<is not> <ly><known>(?= anywhere| here| there| at all| to (?:me|exist)|<end>)
(?:not|nothing|none|nowhere) <here>
<source>(?: \w+){0,5}? (?:<does not>|never|<cannot>) (?:\w+ly |even )?<say>
(?:nothing|none|neither|nobody|no one)(?: \w+){0,5}? <say>
(?:none|neither) of (?:\w+ ){0,3}?<source>
(?:found|find|finds|there is|there was|know|says?|said) nothing (?:about|on|of|that|for|in)
nothing (?:about|is known|is said|is recorded|was found|could be found|relevant)
(?:is|are|was|were|remains?|stays?) <ly>(?:simply )?<unknown>
no (?:\w+ )?(?:results?|matches|hits)

(?:<does not>|never)(?: \w+)?(?: seem to| appear to)? exist(?:s|ed)?
<does not> (?:appear|occur|feature|figure) (?:in|among|anywhere|to be)
no such|non-existent|nonexistent|fictitious|not a real|not real|made-up
no (?:[\w'-]+ ){1,5}?(?:called|named|(?:by|of|with) (?:that|this|the) name)
no (?:[\w'-]+ ){1,5}?(?:is|was) (?:known|mentioned|recorded|found|documented|listed)
no (?:[\w'-]+ ){1,5}?(?:exists?|existed|appears)
(?:<is>|has|have) (?:been )?no (?:[\w'-]+ ){1,8}?<here>
(?:false|mistaken|wrong|incorrect) (?:premise|assumption|presupposition)
(?:premise|assumption)(?: \w+){0,5}? (?:is|are) (?:false|mistaken|wrong)

<i>(?:'m| am| are|'re)? (?:will not|won't|shall not|must not|should not|may not|would rather not)
<i>(?:'ll)? (?:will |must |have to |need to )?(?:refuse|decline)
<am> not (?:going|willing|able|allowed|permitted|in a position) to
<am> (?:declining|refusing)
(?:against|violates?|contrary to) (?:my|the|our) (?:rules|instructions|polic(?:y|ies)|principles)
(?:request|question|this|that|it) (?:is|was) (?:refused|declined)
sorry,? (?:but )?(?:i|we|that|this|no)(?: \w+){0,3}? ?(?:cannot|can't|won't|not|n't)

(?:kann|konnte|können|konnten) (?:\w+ ){0,7}?(?:nicht|keine?n?)
nicht (?:beantwort\w+|bekannt|gefunden|zu finden)|gibt es nicht|existiert nicht
keine (?:angaben?|informationen|belege|hinweise)
(?:ich|wir) (?:werde|werden|darf|dürfen)(?: \w+){0,3} nicht
je ne (?:peux|sais|trouve|vais|suis)|n'existe pas|impossible de
(?:aucune?|pas d') ?(?:information|preuve|mention|trace|réponse|document)
no (?:puedo|sé|se (?:puede|sabe|menciona|encuentra|encontró)|existe|hay|encuentro|encontré|tengo)
ninguna? (?:información|prueba|mención|evidencia)
non (?:posso|so|trovo|esiste|si (?:sa|può|trova)|ho trovato)
nessuna? (?:informazione|prova|menzione)
"""
"""One a line: that there is no answer, no evidence, no such thing, no will; and elsewhere."""


def _phrase(line: str) -> str:
    """A line of the table as a pattern of whole words."""
    return rf"\b(?:{re.sub(r'<([a-z][a-z ]*)>', lambda match: _PIECES[match[1]], line)})(?!\w)"


_DECLINES: Final = re.compile("|".join(map(_phrase, filter(None, _PHRASES.splitlines()))))


def declines(text: str) -> str:
    """The words by which the text declines, as they are compared; empty where it does not."""
    plain = flat(text).translate(_APOSTROPHES)
    bare = one_line(_QUOTED.sub(" … ", plain).lower())
    match = _DECLINES.search(bare)
    return match[0] if match else ""
