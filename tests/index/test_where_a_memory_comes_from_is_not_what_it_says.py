"""The conversation that a memory comes from is named after its first question, which may be about anything."""

from agent.index.document import parse_document

NOTE = b"""---
type: fact
evidence:
  - "[[sessions/2026/11/2026-11-02 What is my blood type]]"
contradicts:
  - "[[2026-11-01-kate-lives-in-york-a1b2c3]]"
---
Kate has moved to Bath, see [[Roman baths]].
"""


def test_a_link_to_the_evidence_gives_a_note_no_words() -> None:
    found = parse_document("entries/2026/11/kate.md", NOTE)
    assert not {"blood", "type"} & {term for terms in found.fields.values() for term in terms}
    assert {"york", "roman"} <= set(found.fields["links"]), "the other links say something"
    assert ("evidence", "[[sessions/2026/11/2026-11-02 what is my blood type]]") in found.facets
