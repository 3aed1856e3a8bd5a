"""Proposes a rule for each tool in `rules/found-methods.md` that the person has ticked.

The words of the rule are a stranger's, in a sentence of the program's: the proposal says so and names them. One that
would take away a safeguard is not proposed, and none twice.
"""

import logging

from agent.asking.answers import propose
from agent.dataclass import dataclass
from agent.errors import UserError
from agent.growth.rules.found_methods import FoundTool, ticked_tools
from agent.growth.rules.relation import takes_away_safeguard
from agent.growth.rules.rule import rule_sentence
from agent.growth.rules.rule_log import RuleLog, RuleRow, append_rows, load_log, logged_words
from agent.growth.rules.rule_proposals import method_rule
from agent.growth.rules.rule_work import RuleChanges, RuleWork
from agent.texts import text
from agent.vault.folders import FOUND_METHODS

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _MethodRule:
    """The rule that a tool would be."""

    text: str
    when: str

    @property
    def words(self) -> str:
        return logged_words(rule_sentence(self.text, self.when))


def propose_methods(work: RuleWork) -> RuleChanges:
    """Propose the ticked tools that were not proposed before; returns the rows about those that are not proposed."""
    changes, ticked = RuleChanges(), ticked_tools(work.vault)
    if not ticked:
        return changes
    log = load_log(work.vault)
    known = {row.words for row in log.rows}
    for tool in ticked:
        said = _rule_of(tool, work)
        if said.words in known:
            continue
        known.add(said.words)
        link = f"[[{work.vault.home.at(FOUND_METHODS).removesuffix('.md')}]]"
        if takes_away_safeguard(tool.use) or takes_away_safeguard(tool.name):
            why = f"{text('rules.method_loosens', work.language)} {link}"
            changes.rows.append(RuleRow(work.now, "", said.words, "withheld", "agent", why))
            continue
        try:
            _propose(work, log, tool, said)
        except UserError as error:
            logger.warning("%s is not proposed as a rule: %s", tool.name, error)
    changes.write(work, "rules(methods): what is not proposed")
    return changes


def _propose(work: RuleWork, log: RuleLog, tool: FoundTool, said: _MethodRule) -> None:
    draft = method_rule(work, log, tool, said.text, said.when)
    row = RuleRow(work.now, "", said.words, "proposed", "person", tool.link)
    also = (append_rows(work.vault.home, [row], work.language),)
    propose(work.vault, draft, work.language, also=also)


def _rule_of(tool: FoundTool, work: RuleWork) -> _MethodRule:
    return _MethodRule(
        text("rules.method_text", work.language, name=tool.name), text("rules.method_when", work.language, use=tool.use)
    )
