"""The agent's answers to a message that is forgotten as a whole: they say it again in other words, and go with it.

"Ines is allergic to walnuts" was answered by "Good to know: no walnuts for Ines", which no comparison of words finds.
"""

from agent.markdown.session_marks import find_records
from agent.memory.forgetting.said_again import SaidAgain
from agent.texts import in_all_languages


def is_only_mark(text: str) -> bool:
    """True if the mark of a forgetting is all that a text says."""
    said = text.strip().rstrip(".。!！")
    return said in in_all_languages("forgetting.mark")


def without_answers(body: str, said: SaidAgain) -> str:
    """The body of a session's note with the mark in place of the answers to messages that say nothing else."""
    gone: list[tuple[int, int]] = []
    is_forgotten = False
    for each in find_records(body):
        if each.kind == "user":
            is_forgotten = not is_only_mark(each.text) and is_only_mark(said.redacted(each.text))
        elif each.kind == "agent" and is_forgotten and each.text.strip():
            gone.append((each.line - 1, each.line + each.text.count("\n")))
    if not gone:
        return body
    rows = body.split("\n")
    for first, end in reversed(gone):
        rows[first:end] = [said.mark]
    return "\n".join(rows)
