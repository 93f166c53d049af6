"""Conversations: sessions by name, branches, and messages of other systems in and out."""

from clew.agent.question import check_question
from clew.agent.queued_words import leave_words
from clew.agent.session_names import session_of, session_run
from clew.conversations.history import history_of
from clew.conversations.opening import answer_messages, branch
from clew.conversations.writing import to_anthropic, to_openai
from clew.core.attachments import text_file

__all__ = [
    "answer_messages",
    "branch",
    "check_question",
    "history_of",
    "leave_words",
    "session_of",
    "session_run",
    "text_file",
    "to_anthropic",
    "to_openai",
]
