"""Attacks as collections of them show them: short orders, mended rules, fake turns, exfiltration."""

from typing import Final

from clew.screens.rules import AttackPattern, one_of

_DROP: Final = one_of("ignore", "disregard", "forget", "forget about", "ignoring", "ignores")
_THEN: Final = one_of(
    "and", "text", "instead", "say", "print", "write", "repeat", "give", "output", "tell", "answer", "directions",
    "just", "now", "but", "instructions?", "prompts?", "i command",
)  # fmt: skip
_STOP: Final = r"\s?(?:[.!,:;\n]|$)"
_BOUND: Final = one_of(
    "rules?", "guidelines?", "restrictions?", "instructions?", "polic(?:y|ies)", "safeguards?", "limitations?"
)  # fmt: skip
_SECRETS: Final = one_of(
    "environment variables?", "env vars?", "api (?:keys?|tokens?)", "passwords?", "credentials?", "secrets?",
    "access (?:keys?|tokens?)", "private keys?", "user data", "chat history", "system ?prompts?",
)  # fmt: skip

RULES: Final = (
    *(
        AttackPattern("override", each)
        for each in (
            _DROP + " (?:(?:all|everything|all of|anything) )?(?:the )?above " + _THEN,
            _DROP
            + " (?:everything|all|anything) (?:above|before (?:that|this)|(?:that )?(?:i|we) ~3 (?:told|said|talked"
            " about|discussed|wrote))",
            "forget about everything and",
            "(?:forget|ignore|disregard)(?: about)? ~2 (?:previous|preceding|prior|earlier|above) (?:orders|tasks|assignments"
            "|information|statements|context|conversation)",
            "your ~1 "
            + _BOUND
            + " (?:have|has) ~2 (?:updated|changed|replaced|lifted|removed|reset)",
            "(?:disregard|ignore|forget|disable|bypass) (?:the |all |your |any )?(?:safety|content polic(?:y|ies)|ethic\\w+)"
            "(?: (?:guidelines?|rules?|filters?|protocols?|stuff|measures))?(?= ?$)",
            "(?:safety|security|content) (?:protocols?|filters?|guidelines|polic(?:y|ies)|restrictions?) (?:(?:are|is|have been|"
            "has been|now) ){0,2}(?:disabled|off|bypassed|suspended|lifted|overridden)",
            "normal rules (?:are )?suspended",
            "change your instructions to",
            "ignorier\\w* ~2 (?:vorangehenden|vorangegangenen|vorherigen|bisherigen|obigen) (?:befehle|angaben|aufgaben|auftrage)",
            "vergiss ~1 alles (?:davor|zuvor|gesagte|vorherige|bisherige|obige)",
            "vergiss ~1 alle (?:bisherigen|vorherigen|obigen) (?:auftrage|aufgaben|angaben|befehle|informationen)",
            "(?:ignore[zr]?|oublie[zr]?) (?:toutes les instructions|tout ce qui (?:precede|a ete dit)|ce qui precede)",
            "(?:olvid(?:a|e|ar|as)|ignor(?:a|e|ar)) (?:todo|todas)(?: (?:lo|las))? (?:anterior|instrucciones|que ~1 (?:digo|dije|sabes))",
            "(?:ignora|dimentica) (?:tutto )?(?:quanto (?:sopra|precede)|(?:cio|quello) che precede|tutte le istruzioni)",
            "(?:ignore|esqueca) (?:tudo (?:o que )?(?:acima|anterior|foi dito)|todas as instrucoes|o que foi dito acima)",
        )
    ),
    *(
        AttackPattern("override", each, words=False, breakable=False)
        for each in (
            r"\b" + _DROP + r" (?:the )?above" + _STOP,
            r"\bforget everything" + _STOP,
            r"\b(?:disregard|disable) (?:all |your )?safety" + _STOP,
        )
    ),
    AttackPattern(
        "override",
        "(?:前の|以前の|これまでの|上記の)(?:指示|命令|ルール)(?:は|を)(?:すべて|全て)?(?:無視|忘れ)",
        words=False,
    ),
    AttackPattern(
        "override",
        "(?:忽略|忘记|无视)(?:以上|上面|之前|先前)(?:的)?(?:所有|全部|一切)?(?:的)?(?:指令|指示|内容|说明|规则)",
        words=False,
    ),
    *(
        AttackPattern("reveal", each)
        for each in (
            "repeat (?:all )?(?:of )?the (?:words?|text|sentences?|prompt|instructions) above",
            "(?:display|print|output|reveal|show) (?:the |your )?(?:system configuration|initial prompt|initiali[sz]ation string)",
            "(?:deine[rmn]?|ihre[rmn]?) ~1 (?:systemanweisung(?:en)?|system ?prompts?|ursprunglichen anweisungen)",
            "what was (?:written|said) ~3 (?:beginning|start|top) ~2 (?:prompt|conversation)",
        )
    ),
    *(
        AttackPattern("persona", each)
        for each in (
            "dan ~6 do anything now",
            "do anything now ~4 dan",
            "broken? free (?:of|from) ~4 (?:confines|limits|rules|restrictions|constraints|chains)",
            "(?:never|cannot|can not|can.?t|will not|won.?t) (?:refuse|decline|reject) ~3 (?:requests?|questions?|orders?|prompts?)",
            "(?:no|any|of) (?:ethical|moral)(?: (?:or|and) (?:ethical|moral|legal))? (?:guidelines?|restrictions?|limitations?|constraints?|"
            "limits|boundaries)",
            "(?:bypass\\w*|ignor\\w+|bound by|regardless of|free (?:from|of)|restricted by|comply with|adhere to) ~4 openai ~2 (?:polic(?:y|ies)"
            "|guidelines?|rules?|restrictions?|content)",
            "(?:enable|activate|enter|unlocked|in) ~2 (?:developer|unrestricted|maintenance|jailbreak|god|debug|admin) mode ~6"
            " (?:show|display|print|reveal|output|disable|ignore|activate|suspended)",
            "(?:amoral|uncensored|unfiltered|unrestricted) (?:ai|chatbot|assistant|model|bot|persona|answers?|responses?|version)",
        )
    ),
    *(
        AttackPattern("forgery", each, words=False, breakable=False)
        for each in (
            r"(?:^|(?<=\n))[^\S\n]{0,3}#{2,4}\s?(?:assistant|human|user|system)\s?:",
            r"#{2,4}\s?(?:system|instruction|new instructions?)\s?#{2,4}",
            r"\b(?:human|user)\s?:[^\n]{1,200}\n\s{0,3}(?:assistant|ai)\s?:",
            r"(?:(?<=[.!?\]])|^) ?(?:assistant|ai)\s?: ?(?:sure|i will|i ll|i'll|of course|okay|yes|here|certainly)\b",
        )
    ),
    *(
        AttackPattern("exfiltration", each)
        for each in (
            "(?:e.?mail|send|forward|post|upload|transmit|dm) (?:me )?(?:all|every|any|the|your)(?: of)? ~2 "
            + _SECRETS
            + " ~3 (?:to|over to) (?:me|my|us|this|https?|an? (?:external|remote)|[\\w.]{1,40}@)",
            "(?:e.?mail|send|dm) me (?:all|every|any|your)(?: of)? ~2 " + _SECRETS,
            "(?:schicke?|sende|maile?|leite) (?:mir )?alle ~2 (?:umgebungsvariablen|passworter|zugangsdaten|api schlussel|geheimnisse)",
            "(?:mir|uns) (?:ihr|dein) passwort (?:geben|verraten|nennen|sagen|schicken)",
            "(?:envoie|envoyez|envoie moi|transmets) ~2 (?:toutes|tous) ~2 (?:variables d environnement|mots de passe|cles? api|identifiants|secrets)",
            "(?:envia|enviame|manda|mandame) ~1 tod[oa]s ~2 (?:variables de entorno|contrasenas|claves? (?:de )?api|credenciales|secretos)",
            "(?:invia|inviami|manda|mandami) ~1 tutt[ei] ~2 (?:variabili d ambiente|password|chiavi api|credenziali|segreti)",
            "(?:envie|mande|envia) ~1 tod[oa]s ~2 (?:variaveis de ambiente|senhas|chaves (?:de )?api|credenciais|segredos)",
            "(?:отправь|пришли|вышли)(?:те)? ~1 все ~2 (?:переменные окружения|пароли|ключи|учетные данные|секреты)",
        )
    ),
)
