"""The notes of a profile: their names, their layers, and the note in which each kind of statement belongs."""

from pathlib import PurePosixPath

from agent.config.vocabulary import pattern
from agent.memory.understanding.seam import FactKind
from agent.memory.understanding.statements import kind_of
from agent.vault.folders import PROFILE

CORE = (
    *("00-basic-info", "01-core-identity"),
    *("10-personality", "11-values-beliefs", "12-cognitive-style"),
    *("20-skills-abilities", "21-knowledge-domains", "22-goals-aspirations", "23-interests-hobbies"),
    *("30-daily-patterns", "31-preferences", "32-health-wellness"),
    *("40-relationships", "41-projects-work", "42-social-context"),
    *("50-key-memories", "51-patterns-insights"),
)
"""The seventeen notes that every profile has; the first digit is the layer."""
TOPIC_LAYER = 6
"""The last of the layers: base, inner traits, ability and growth, lifestyle, social, memory and insight, topics."""
TOPICS = "topics/"
CHANGELOG = "_changelog.md"
SENSITIVE_NOTES = frozenset(("32-health-wellness", "40-relationships", "42-social-context"))
SENSITIVE_KINDS = frozenset((FactKind.HEALTH, FactKind.PERSON))
"""What is written only with the person's consent (`profile.sensitive`), by note and by kind of statement."""
OBSERVED_NOTES = frozenset(("30-daily-patterns", "31-preferences", "51-patterns-insights"))
"""The notes in which a line may rest on what the program has counted itself, without a quotation."""
NOTE_OF_KIND = {
    FactKind.SELF: "00-basic-info",
    FactKind.HEALTH: "32-health-wellness",
    FactKind.PERSON: "40-relationships",
    FactKind.PREFERENCE: "31-preferences",
    FactKind.DECISION: "22-goals-aspirations",
    FactKind.WORKFLOW: "30-daily-patterns",
    FactKind.EVENT: "50-key-memories",
    FactKind.OTHER: "50-key-memories",
}
_NOTE_OF_LIST = {
    "about_identity": "01-core-identity",
    "about_personality": "10-personality",
    "about_cognition": "12-cognitive-style",
    "about_values": "11-values-beliefs",
    "about_memories": "50-key-memories",
    "about_basics": "00-basic-info",
    "about_goals": "22-goals-aspirations",
    "about_work": "41-projects-work",
    "about_relations": "40-relationships",
    "about_society": "42-social-context",
    "about_knowledge": "21-knowledge-domains",
    "about_skills": "20-skills-abilities",
    "about_interests": "23-interests-hobbies",
    "about_tastes": "31-preferences",
    "about_days": "30-daily-patterns",
}
"""The note of each list of words in `configs/understanding.yaml`; the first list that fits a statement counts."""
_CLOSE = frozenset(("about_relations", "about_society"))
_NOT_IN_NAMES = frozenset('\\/:*?"<>|#^[]\n\r\t')
_NOT_PROFILE = ("about ", "关于 ")


def note_of(statement: str) -> str:
    """The stem of the note in which a statement belongs: by its words, else by its kind. Health, and people other than
    those of the person's work and memories, come before the rest."""
    kind, typed = kind_of(statement), statement.replace("’", "'")
    if kind is FactKind.HEALTH:
        return NOTE_OF_KIND[kind]
    for name, note in _NOTE_OF_LIST.items():
        if kind is FactKind.PERSON and name in _CLOSE:
            break
        if pattern(name).search(typed):
            return note
    return NOTE_OF_KIND[kind]


def note_name(given: str) -> str:
    """The name in `profile/` of the note that a person or a model names, such as `31-preferences.md` or
    `topics/cello.md`; empty for a name that no note of a profile can have."""
    name = given.strip().removeprefix("[[").removesuffix("]]").removesuffix(".md").rpartition(PROFILE)[2]
    folder, _, stem = name.rpartition("/")
    if not folder and stem in CORE:
        return f"{stem}.md"
    is_plain = bool(stem.strip(" .")) and not stem.startswith((".", "_")) and not set(stem) & _NOT_IN_NAMES
    return f"{TOPICS}{stem}.md" if folder == TOPICS.rstrip("/") and is_plain else ""


def is_profile_note(name: str) -> bool:
    """True if the note of this name in `profile/` says something about the person: neither the changelog nor a note
    that explains a folder."""
    stem = PurePosixPath(name).name
    return stem != CHANGELOG and not stem.startswith(".") and not stem.casefold().startswith(_NOT_PROFILE)


def layer_of(name: str) -> int:
    """The layer of a note by its name in `profile/`: the first digit, else that of topics."""
    stem = PurePosixPath(name).name
    digit = stem[:1]
    return int(digit) if "/" not in name and digit in "012345" and stem[1:2].isdigit() else TOPIC_LAYER


def is_core(name: str) -> bool:
    """True for one of the seventeen notes."""
    return name.removesuffix(".md") in CORE
