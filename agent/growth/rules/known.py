"""What a new strategy is compared with: the rules that there are, and what the person has refused or is asked about."""

from collections.abc import Sequence

from agent.asking.answers import pending_proposals
from agent.dataclass import dataclass
from agent.growth.patterns.likeness import Vectors
from agent.growth.rules.book import RuleBook
from agent.growth.rules.relation import relation
from agent.growth.rules.rule import without_case
from agent.growth.rules.rule_work import RuleWork
from agent.memory.understanding.seam import TextRelation


@dataclass(frozen=True, slots=True)
class KnownRules:
    """The rules of a vault, and the sentences of the rules that the person is asked about; `vectors` tell
    meanings apart."""

    book: RuleBook
    asked: tuple[str, ...]
    vectors: Vectors | None

    def relations(self, said: str, others: Sequence[str]) -> tuple[TextRelation, ...]:
        """The relation of a text to each of the others."""
        return tuple(relation(said, other, self.vectors) for other in others)

    def is_among(self, text: str, sentence: str, others: Sequence[str]) -> bool:
        """True if one of these sentences says the same as a rule, with its case (`sentence`) or without (`text`)."""
        bare = [without_case(other) for other in others]
        return TextRelation.SAME in (*self.relations(sentence, others), *self.relations(text, bare))

    def is_settled(self, text: str, sentence: str) -> bool:
        """True if the person has refused or deleted such a rule, or is asked about it."""
        return self.is_among(text, sentence, (*self.book.log.unwanted, *self.asked))


def known_rules(work: RuleWork, book: RuleBook) -> KnownRules:
    """What the strategies of a look are compared with."""
    asked = tuple(each.facts.get("words", "") for each in pending_proposals(work.vault, "rule"))
    return KnownRules(book, asked, work.vectors())
