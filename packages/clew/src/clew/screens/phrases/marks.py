"""Forged speakers, tool results and places of secrets: the same in every language."""

from typing import Final

from clew.screens.rules import AttackPattern, one_of

_SYSTEM: Final = one_of(
    "system(?:e|a)?",
    "sistema",
    "система",
    "系统",
    "システム",
    "النظام",
    "developer",
    "administrator",
)
_CUE: Final = one_of(
    "user", "you ", "assistant", "ignore", "obey", "approv", "grant", "comply", "overrid", "checks",
    "access", "polic", "admin", "permission", "security", "nutzer", "genehmig", "utilisateur",
    "accorde", "usuario", "peticion", "utente", "richiest", "usuari", "pedido", "пользовател", "одобр",
    "用户", "批准", "ユーザー", "承認", "المستخدم", "وافق", "aprobad", "approvat", "aprovad",
)  # fmt: skip
_GRANTED: Final = one_of(
    "approv", "confirm", "authori[sz]", "grant", "permit", "accepted", "allow", "bestatig", "genehmig",
    "aprob", "aprov", "conferm", "подтверд", "одобр", "确认", "批准", "承認", "確認", "اكد", "وافق",
)  # fmt: skip
_SEEN: Final = one_of(
    "observation", "beobachtung", "osservazione", "observacion", "observacao", "наблюдение", "观察",
    "観察", "ملاحظة",
)  # fmt: skip
_SECRETS: Final = one_of(
    r"\.env\b(?!\w)", r"id_rsa", r"\.ssh/", r"\.aws/credentials", r"/etc/(?:passwd|shadow)", r"\.netrc",
    r"\.pgpass",
)  # fmt: skip
_FETCH: Final = one_of(
    "read", "show", "print", "cat", "open", "display", "contents? of", "dump", "send", "post", "upload",
    "lies", "lese", "zeige?", "schicke?", "affiche[zr]?", "montre[zr]?", "envoie", "lis", "muestra(?:me)?",
    "lee", "envia(?:me)?", "mostra(?:mi)?", "leggi", "manda(?:mi)?", "mostre", "leia", "envie", "покажи",
    "прочитай", "пришли", "اعرض", "اقرا", "ارسل",
)  # fmt: skip

RULES: Final = (
    *(
        AttackPattern("forgery", each, words=False, breakable=False)
        for each in (
            r"<\|(?:im_start|im_end|system|user|assistant|start_header_id|end_header_id|eot_id|endoftext)\|>",
            r"\[/?inst\]|<</?sys>>",
            r"\bend (?:of )?(?:the )?(?:user )?(?:request|input|query|message|document|data)\b[^\n]{0,20}\b(?:assistant|system|ai)\b",
            r"<!--[^\n>]{0,30}\b(?:ai|assistants?|agents?|chatbots?|llms?)\b",
            r"</?(?:system|tool_response|tool_result|function_results?|assistant|developer)>",
            r"\[(?:system|developer|admin)(?: message)?\] ?:?",
            r"(?:^|(?<=[\n.?!؟？。]))[\s#*]{0,6}"
            + _SYSTEM
            + r"(?: (?:message|prompt|notice|alert|update|override))?\s?[:：][^\n]{0,60}"
            + _CUE,
            r"\bassistant\s?:[^\n]{1,200}\b(?:user|human|system)\s?:",
            r"\b(?:user|human)\s?:[^\n]{1,200}\bassistant\s?:[^\n]{1,200}\bsystem\s?:",
            r"\b" + _SEEN + r" ?\d{1,3}\s?[:：][^\n]{0,80}" + _GRANTED,
            r"\b(?:tool|function) ?(?:result|response|output)s?\s?:[^\n]{0,80}" + _GRANTED,
            r'"role"\s?:\s?"(?:system|developer|tool)"[^\n]{0,40}"content"\s?:[^\n]{0,80}(?:you may|ignore|'
            r"without asking|obey|approve|must comply|delete|unrestricted)",
        )
    ),
    *(
        AttackPattern("exfiltration", each, words=False, breakable=False)
        for each in (
            r"\b" + _FETCH + r"\b[^.\n!?]{0,30}[^\w.]{0,2}[~/\w]{0,12}" + _SECRETS,
            r"\b(?:fetch|open|visit|load|get|request|call)\b[^\n]{0,10}https?://[^\s]{1,200}[^\n]{0,20}"
            r"(?:followed by|with|containing|plus|including)[^\n]{0,40}(?:conversation|chat|secrets?|history|"
            r"messages|keys?|prompt)",
            r"\b(?:append|put|encode|embed|insert|add|encoded)\b[^\n.]{0,30}\b(?:secrets?|keys?|tokens?|"
            r"conversation|passwords?)\b[^\n]{0,40}\b(?:url|link|image|query)\b",
        )
    ),
)
