"""What English attacks say."""

from typing import Final

from clew.screens.rules import AttackPattern, LanguagePatterns

ENGLISH: Final = LanguagePatterns(
    drop="""ignore, ignoring, disregard, forget(?: about)?, neglect, override, overrule, bypass, circumvent, discard,
    abandon, dismiss, violate, break(?:s|ing)?, skip, drop, erase, scrap, overlook, set aside, put aside, leave aside,
    leave behind, throw out, throw away, let go of, do away with, get rid of, turn off, switch off, disable, deactivate,
    pay no(?: more)? attention to, (?:stop|quit|cease) (?:following|obeying|using|respecting|applying|heeding),
    (?:do not|don.?t|no longer|never) (?:follow|obey|use|respect|apply|heed|listen to), cancel, wipe, unlearn, never mind, do the
    opposite of, do not mind""",
    orders="""instructions?, rules?, guidelines?, directives?, directions?, prompts?, constraints?, restrictions?,
    polic(?:y|ies), programming, training, limitations?, safeguards?, guardrails?, safety \\w+, commands?, guidance""",
    earlier="""previous, previously, prior, earlier, above, preceding, former, initial, original, your, system, existing,
    before, so far, you (?:were|got|have|had|received|follow|ve been), given, from your developers?, old, first, developers?,
    (?:placed|imposed|put) (?:on|upon) you, you (?:started|began) with""",
    void="""(?:have |has )?expired, no longer (?:apply|valid|hold|count|matter|binding), (?:do not|don.?t|does not) (?:apply|hold|count|matter),
    (?:(?:are|is|as|have been|has been) )?(?:now )?(?:void|cancel+ed|revoked|invalid|obsolete|lifted|suspended|disabled|
    replaced|annulled|deleted|overridden|off|switched off|turned off|waived|outdated|superseded)""",
    told="""(?:everything|anything|all|whatever|what)(?: that)? (?:(?:you(?:.?ve| have)?|they|was|were|has been|have been)
    ~3 )(?:told|said|instructed|taught|trained|learned|given|know|read), what the system (?:message|prompt) \\w+,
    (?:everything|anything|all|whatever)(?: that)? (?:came|comes|stands|is|was|written) ~1 (?:above|before)""",
    obey="""(?:obey|answer to|listen to|follow) (?:only me|me (?:alone|only)|nobody but me|my (?:orders|words|rules) (?:only|
    alone)), (?:treat|take|consider) my ~2 as (?:the only|your only|your new) ~1 (?:rules?|instructions?|orders?|law),
    system override (?:safety|engaged|activated|accepted|code|mode|initiated|authori[sz]ed), (?:do|follow|obey) (?:only|
    just|exactly) what (?:i|comes next) ~1 (?:write|say|tell|from now)""",
    say="""print, show, reveal, repeat, output, display, tell, give, share, leak, expose, dump, disclose, copy, write, type,
    list, quote, recite, summari[sz]e, translate, paraphrase, describe, spells?, send, provide, return, state, read, email,
    post, encode, hand over, forward, upload, append, paste, echo, begin your reply with, start your answer with, reproduce,
    publish, extract, put, place, insert, embed, include""",
    what="what, which, what.?s, whats",
    your="your",
    text="""(?:the|this) (?:system|hidden|secret|internal|developer|pre|underlying) ?(?:prompts?|instructions?|messages?|rules?),
    your(?: (?:own|full|whole|exact|entire|complete|very))? (?:system|initial|hidden|secret|original|
    internal|starting|pre|developer|configuration|confidential|underlying) ?(?:prompts?|instructions?|messages?|rules?|
    guidelines?|directives?|configuration|settings), your (?:system ?prompt|prompt|pre prompt|preprompt|instructions
    (?:verbatim|word for word|in full|exactly)), what your (?:developers|makers|creators|operators) (?:wrote|told|gave|said), prompt ~4 before (?:our|this) (?:conversation|chat)""",
    received="""you (?:have |had |were |are |ve |was )?(?:been )?(?:given|received|got|operating under|told|started with|loaded
    with|configured with|following|running on|set up with)""",
    above="""(?:everything|all|text|words?|contents?|lines?|conversation) ~4 (?:above|before|preceding|prior to) (?:this|the
    (?:first )?(?:user|human)|my)""",
    be="""pretend, imagine, suppose, act, behave, roleplay, role play, simulate, be, are, as, become, like, play, respond as,
    answer as, switch""",
    you="""you are, you.?re, you re now, from now on you, you will, imagine(?: that)? you, pretend(?: that)? you, you now,
    (?:for|in) this (?:chat|conversation|session) you, you have been, as though you, as if you, like you, respond, answer twice""",
    being="""ai, a i, assistants?, model, bot, chatbot, machine, character, system, grandmother, robot, llm, persona, twin""",
    without="""without, has no, have no, had no, with no, no, free of, freed from, free from, released from, unbound by, not
    bound by, bound by no, ignores?, never, lacks, outside of, (?:does|do)(?: not|n.?t) (?:obey|follow|respect|have),
    (?:no longer|not|never) (?:have to |need to |must )?(?:follow|obey|respect|adhere to|comply with), breaks?, must never""",
    bounds="""rules?, restrictions?, limits?, limitations?, filters?, ethics, ethical ~1 (?:limits|rules|bounds|code),
    guidelines?, polic(?:y|ies), safety(?: \\w+)?, constraints?, morals?, refus\\w+(?: ~2 requests?)?, censorship, norms,
    moderation, decline""",
    free="""unrestricted, unfiltered, uncensored, jailbroken, amoral, unaligned, unchained, unlocked, liberated""",
    mode="""(?:developer|god|debug|admin|sudo|root|maintenance|jailbreak|dan|unrestricted|unfiltered|evil|do anything now)
    mode""",
    keys="""api (?:keys?|tokens?), access (?:keys?|tokens?), secret keys?, private keys?, credentials?, passwords?,
    environment variables?, env vars, secrets, secret tokens?, bearer tokens?, auth tokens?, tokens?, session cookies?,
    login details""",
    have="""you ~3 (?:us(?:e|ing)|know|have|hold|store|access|log in|reach|see|find|sign|authenticate|connect), (?:stored )?(?:in|from) your (?:config\\w*|memory|
    environment|settings|context)""",
)

EXTRA: Final = (
    AttackPattern("override", "(?:void|no|none of)(?: of)? (?:your|the) (?:previous|prior|earlier) ~1 (?:orders|rules)"),
    AttackPattern("override", "(?:replaces?|supersedes?|overrides?) ~3 (?:system prompt|(?:original|previous|your) ~1 instructions)"),
    AttackPattern("override", "(?:original|previous|your) ~1 (?:system prompt|instructions) ~3 (?:replaces?|supersedes?|overrides?)"),
    AttackPattern("override", "(?:ignore|disregard|neglect|forget|skip|drop) (?:all|any|every) ~2 (?:instructions|directives|guidelines)"),
    AttackPattern("override", "none of what ~4 (?:told|said|wrote|taught) ~4 (?:counts?|appl(?:y|ies)|matters?|holds?)"),
    AttackPattern("persona", "do anything now (?:mode|enabled|activated|and|is)"),
    AttackPattern("persona", "(?:act|behave|respond|answer|roleplay|role play) (?:as|like) (?:dan|stan|dude)\\b"),
    AttackPattern("persona", "(?:enter|enable|activate|switch (?:in)?to|turn on|go into|start|engage|unlock) ~2"
         " (?:jailbreak|dan|do anything now|unrestricted|unfiltered|evil|no filter) mode"),
    AttackPattern("forgery", "(?:begin|start of|end of|end) (?:system|admin|administrator|developer) (?:message|prompt|instructions?)"),
    AttackPattern("exfiltration", "(?:print|show|echo|tell|give|send|reveal|output|dump)(?!\\() ~4 \\w+_(?:api_key|token|secret|password)\\b"),
    AttackPattern("exfiltration", "(?:list|give|show|dump|print|append|send) ~2 (?:every|all|each) (?:secrets?|credentials?|keys?) ~2 you"),
    AttackPattern("exfiltration", "(?:dump|print|show|send|list) your ~1 environment variables"),
)  # fmt: skip

RULES: Final = (*ENGLISH.rules(), *EXTRA)
