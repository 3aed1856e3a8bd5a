"""What the person did with rules by hand: written, changed, moved, set aside, brought back or deleted; as log rows.

The log has the last status that the program knew. What differs from it is the person's doing, and stands.
"""

from collections.abc import Iterator
from datetime import datetime

from agent.growth.rules.book import RuleBook
from agent.growth.rules.rule import LearnedRule
from agent.growth.rules.rule_log import By, RuleRow, log_row, logged_words
from agent.texts import Language, text
from agent.vault.store import Vault


def rows_by_hand(vault: Vault, book: RuleBook, now: datetime, language: Language) -> tuple[RuleRow, ...]:
    """The rows about what the person has done since the last row about each rule."""
    gone = [path for path in _known(book) if vault.own_version(path) is None]
    rows = list[RuleRow]()
    for rule in book.rules:
        row = _row(book, rule, gone, now, language)
        if row is not None:
            rows.append(row)
    standing = {logged_words(rule.sentence) for rule in book.rules}
    for path in gone:
        if book.log.of(path)[-1].event not in ("deleted", "merged") and _words(book, path) not in standing:
            rows.append(RuleRow(now, path, _words(book, path), "deleted", "person", text("rules.deleted", language)))
    return tuple(rows)


def _row(book: RuleBook, rule: LearnedRule, gone: list[str], now: datetime, language: Language) -> RuleRow | None:
    last = book.log.last_status(rule.path)
    said = logged_words(rule.sentence)
    if last is None or book.log.of(rule.path)[-1].event in ("deleted", "merged"):
        before = next((path for path in gone if _words(book, path) == said), None)
        known = book.log.last_status(before) if before else None
        if known is not None:  # as old as its status, so that its uses since then still count
            return log_row(rule, known.at, known.event, known.by, text("rules.moved", language))
        by: By = "person" if rule.is_persons else "agent"
        return log_row(rule, now, rule.status, by, text(f"rules.found_{by}", language))
    if ("probation" if last.event == "urgent" else last.event) != rule.status:
        return log_row(rule, now, rule.status, "person", text("rules.set_by_hand", language))
    if _words(book, rule.path) != said:
        return log_row(rule, now, "changed", "person", text("rules.changed_by_hand", language))
    return None


def _known(book: RuleBook) -> Iterator[str]:
    """The paths of the rules that have had a status."""
    return (path for path in book.log.paths if book.log.last_status(path) is not None)


def _words(book: RuleBook, path: str) -> str:
    """The last words of a rule in the log; empty without any."""
    rows = book.log.of(path, "probation", "urgent", "active", "deprecated", "changed", "supported", "deleted")
    return rows[-1].words if rows else ""
