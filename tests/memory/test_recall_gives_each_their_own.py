"""Recall: whose memories, how old, how many of a kind, and what happens when the model that finds them fails."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.config.load import load_settings
from agent.config.memory_settings import MemorySettings
from agent.errors import UserError
from agent.events.bus import InjectionType
from agent.events.runs import ContextRefreshed, IterationStarted
from agent.index.arrays import Floats, Ints
from agent.index.embedder import EmbedderChoice
from agent.index.query import Hit, Leg, SearchResult
from agent.index.search import Searcher
from agent.memory.entry import Entry, EntryType, Scope
from agent.memory.forgetting.tombstones import Tombstones, fingerprints
from agent.memory.recall.authorship import OWN_ENTRIES, Asker
from agent.memory.recall.candidates import is_recalled_as_note, may_be_offered
from agent.memory.recall.degraded_search import DegradedSearch
from agent.memory.recall.likely import HeldText
from agent.memory.recall.recaller import Recaller, Recollection, Remembered, plain
from agent.memory.recall.refresh import SessionMemories, is_due, refresh_subscriber, topics
from agent.vault.folders import AT_ROOT
from tests.bench.vault import KEYWORDS_ONLY, MemoryVault, recaller_over
from tests.index.fakes import FAKE, FakeEmbedder

PROJECT = Path(__file__).parents[2]
NOW = datetime(2026, 11, 21, 14, tzinfo=UTC)
SETTINGS = load_settings(environ={}).settings.memory


@dataclass
class Shelf:
    """Notes with an index; `put` adds entries, then `open` lets them be recalled."""

    folder: Path
    notes: dict[str, bytes] = field(default_factory=dict)
    count: int = 0

    def put(self, text: str, kind: EntryType = EntryType.CHAT_TURN, days: float = 1, **more: object) -> Entry:
        self.count += 1
        entry = Entry(f"01HZZZZZZZ{self.count:016d}", NOW - timedelta(days=days), text, kind, **more)  # type: ignore[arg-type]
        self.notes[entry.path] = entry.note()
        return entry

    def searcher(self, chosen: EmbedderChoice = KEYWORDS_ONLY) -> Searcher:
        return MemoryVault(self.notes).searcher(self.folder, "whoosh", chosen)

    def open(self, settings: MemorySettings = SETTINGS, searcher: Searcher | None = None) -> Recaller:
        found = searcher or self.searcher()
        return recaller_over(
            lambda text, limit: found.search(text, limit, explain=True), self.notes.get, lambda: NOW, settings
        )


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def said(found: Recollection) -> list[str]:
    return [each.text for each in found.found]


def test_a_memory_is_given_with_its_day_its_kind_and_where_it_stands(shelf: Shelf) -> None:
    entry = shelf.put("User: I drink green tea.\nAssistant: Noted.")
    (found,) = shelf.open().recall("which tea?", Asker(), 8).found
    assert found.model_text == f"2026-11-20 · conversation · [[{entry.path[:-3]}]]\n{entry.text}"
    lines = shelf.notes[entry.path].decode().splitlines()
    assert "\n".join(lines[found.lines[0] - 1 : found.lines[1]]) == entry.text


def test_of_a_long_memory_the_best_part_is_given_with_its_own_lines(shelf: Shelf) -> None:
    entry = shelf.put(
        "\n\n".join(f"Step {number}: " + "stir it slowly, " * 12 for number in range(9)) + "\n\nGreen tea."
    )
    (found,) = shelf.open().recall("which green tea?", Asker(), 8).found
    lines = shelf.notes[entry.path].decode().split("\n")[found.lines[0] - 1 : found.lines[1]]
    assert "Green tea." in lines and "\n".join(lines).strip() == found.text != entry.text


def test_nobody_is_given_what_another_person_said(shelf: Shelf) -> None:
    shelf.put("User: my tea is oolong", sender_id="anna", channel="lark:room")
    shelf.put("User: my tea is sencha", sender_id="ben", channel="lark:room")
    shelf.put("User: my tea is assam")
    shelf.put("User: in this room tea is rooibos", sender_id="ben", scope=Scope.CHAT, chat_id="lark:room")
    shelf.put("User: elsewhere tea is mate", sender_id="ben", scope=Scope.CHAT, chat_id="lark:other")
    recaller = shelf.open()
    anna, room = Asker("anna", "lark:room", is_owner=False), Asker("ben", "lark:room", is_owner=False)
    assert sorted(said(recaller.recall("my tea", anna, 8))) == [
        "User: in this room tea is rooibos",
        "User: my tea is oolong",
    ]
    assert "User: my tea is oolong" not in said(recaller.recall("my tea", room, 8))
    assert said(recaller.recall("my tea", Asker(), 8)) == ["User: my tea is assam"]


def test_who_has_no_name_is_nobody_and_not_the_owner(shelf: Shelf) -> None:
    shelf.put("User: my tea is assam")
    shelf.put("User: in this room tea is rooibos", sender_id="ben", scope=Scope.CHAT, chat_id="lark:room")
    recaller = shelf.open()
    assert said(recaller.recall("tea", Asker(is_owner=False), 8)) == []
    assert said(recaller.recall("tea", Asker(chat="lark:room", is_owner=False), 8)) == [
        "User: in this room tea is rooibos"
    ]
    assert said(recaller.recall("tea", Asker(), 8)) == ["User: my tea is assam"]


def test_names_that_differ_in_case_are_two_people(shelf: Shelf) -> None:
    shelf.put("User: my tea is oolong", sender_id="Anna")
    assert said(shelf.open().recall("tea", Asker("anna", is_owner=False), 8)) == []


@given(
    st.lists(st.tuples(st.sampled_from(["", "a", "b", "A"]), st.sampled_from(["", "x", "y"])), min_size=1, max_size=8),
    st.sampled_from(["", "a", "b"]),
    st.sampled_from(["", "x", "y"]),
    st.sampled_from(["tea", "scope:chat tea", "path:e tea sender_id:a", 'tea sender_id:"a"', "type:chat_turn tea"]),
    st.booleans(),
)
def test_whatever_is_asked_only_one_s_own_and_one_s_chat_s_are_found(
    said_by: list[tuple[str, str]], sender: str, chat: str, question: str, is_owner: bool
) -> None:
    entries = {
        f"entries/{at}.md": Entry(
            f"01HZZZZZZZ{at:016d}", NOW, f"tea {at}", EntryType.CHAT_TURN, Scope.CHAT if room else Scope.USER,
            sender_id=who, chat_id=room,
        )
        for at, (who, room) in enumerate(said_by)
    }  # fmt: skip
    notes = {path: entry.note() for path, entry in entries.items()}

    def careless(text: str, limit: int) -> SearchResult:
        """A search that filters nothing."""
        facets = {path: _facets(entry) for path, entry in entries.items()}
        return SearchResult(text, "keyword", "fake", tuple(_hit(path, facets[path]) for path in notes))

    recaller = recaller_over(careless, notes.get, lambda: NOW, SETTINGS)
    for each in recaller.recall(question, Asker(sender, chat, is_owner), 8).found:
        entry = entries[each.path]
        is_nobody = not (sender or is_owner)
        assert (entry.scope is Scope.USER and entry.sender_id == sender and not is_nobody) or (
            entry.scope is Scope.CHAT and chat and entry.chat_id == chat
        )


def _facets(entry: Entry) -> tuple[tuple[str, str], ...]:
    return (
        ("type", str(entry.type)),
        ("scope", str(entry.scope)),
        ("sender_id", entry.sender_id.casefold()),
        ("chat_id", entry.chat_id),
        ("created", entry.created.isoformat()),
    )


def _hit(path: str, facets: tuple[tuple[str, str], ...], score: float = 1.0) -> Hit:
    return Hit(path, path, None, score, (1, 1), "tea", (), (), facets)


@pytest.mark.parametrize(
    ("kind", "scope", "days"),
    [
        (EntryType.CHAT_TURN, Scope.USER, 30),
        (EntryType.CHAT_TURN, Scope.CHAT, 14),
        (EntryType.AUTO_FLUSH, Scope.USER, 90),
        (EntryType.AUTO_FLUSH, Scope.CHAT, 90),
        (EntryType.USER_EXPLICIT, Scope.USER, None),
    ],
)
def test_memories_are_recalled_for_as_long_as_their_kind_lasts(
    shelf: Shelf, kind: EntryType, scope: Scope, days: int | None
) -> None:
    more: dict[str, object] = {"scope": scope, "chat_id": "room"} if scope is Scope.CHAT else {}
    shelf.put("the young tea", kind, (days or 5_000) - 1, **more)
    shelf.put("the old coffee", kind, (days or 5_000) + 1, **more)
    found = said(shelf.open().recall("tea coffee", Asker(chat="room"), 8))
    assert sorted(found) == (["the young tea"] if days else ["the old coffee", "the young tea"])


@pytest.mark.parametrize("kind", sorted(OWN_ENTRIES))
def test_what_the_agent_did_or_thought_itself_is_no_memory(shelf: Shelf, kind: EntryType) -> None:
    shelf.put("the agent made tea", kind)
    shelf.put("User: I make tea at four")
    assert said(shelf.open().recall("tea", Asker(), 8)) == ["User: I make tea at four"]


def test_what_has_its_own_end_is_over_then(shelf: Shelf) -> None:
    shelf.put("tea until yesterday", EntryType.USER_EXPLICIT, 9, expires=NOW - timedelta(days=1))
    assert said(shelf.open().recall("tea", Asker(), 8)) == []


def test_the_turn_just_said_is_not_told_back_but_what_a_summary_took_away_is(shelf: Shelf) -> None:
    shelf.put("User: my tea is oolong", session_id="sessions/a.md")
    here = Asker(session="sessions/a.md")
    recaller = shelf.open()
    assert said(recaller.recall("tea", here, 8)) == []
    assert said(recaller.recall("tea", replace(here, since=NOW), 8)) == ["User: my tea is oolong"]
    assert said(recaller.recall("tea", Asker(session="sessions/b.md"), 8)) == ["User: my tea is oolong"]


def test_a_turn_of_the_second_in_which_the_summary_was_made_is_told_again(shelf: Shelf) -> None:
    shelf.put("User: my tea is oolong", days=0, session_id="sessions/a.md")
    here = Asker(session="sessions/a.md")
    recaller = shelf.open()
    assert said(recaller.recall("tea", replace(here, since=NOW), 8)) == ["User: my tea is oolong"]
    assert said(recaller.recall("tea", replace(here, since=NOW - timedelta(seconds=1)), 8)) == []


def test_the_same_thing_is_given_once_and_what_took_its_place_instead_of_it(shelf: Shelf) -> None:
    old = shelf.put("Anna drinks tea.", EntryType.USER_EXPLICIT)
    shelf.put("Anna drinks oolong and sencha tea after lunch.", EntryType.USER_EXPLICIT, supersedes=old.id)
    shelf.put("User: is there tea?\nAssistant: yes there is tea")
    shelf.put("User: Is there tea?\nAssistant: Yes, there is tea!")
    found = said(shelf.open().recall("tea", Asker(), 8))
    assert len(found) == 2
    assert "Anna drinks tea." not in found


def test_layers_are_for_the_owner_and_the_logs_of_days_are_none(shelf: Shelf) -> None:
    shelf.notes["MEMORY.md"] = b"# Memory\n\n## Preferences\n\n- Anna takes tea without sugar.\n"
    shelf.notes["daily/2026-11-19.md"] = b"# Day\n\n- bought tea\n"
    shelf.notes["daily/2026-11-01.md"] = b"# Day\n\n- spilled tea\n"
    shelf.notes["profile/00-basic-info.md"] = b"# Basics\n\n- drinks tea\n"
    shelf.notes["archive/entries/old.md"] = shelf.put("archived tea").note()
    shelf.notes["own.md"] = b"tea in my own note\n"
    shelf.notes = {path: data for path, data in shelf.notes.items() if not path.startswith("entries/")}
    recaller = shelf.open()
    assert {each.kind for each in recaller.recall("tea", Asker(), 8).found} == {"long_term", "profile"}
    assert {each.path for each in recaller.recall("tea", Asker(), 8).found} == {"MEMORY.md", "profile/00-basic-info.md"}
    assert recaller.recall("tea", Asker("guest", is_owner=False), 8).found == ()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_explains_the_vault_is_no_memory_of_anybody(shelf: Shelf, language: str) -> None:
    """A new vault says a lot about memories in general, and its examples are nobody's facts."""
    template = PROJECT / "vault_template" / language
    notes = [path for path in template.rglob("*.md") if path.name != "AGENT.md"]
    shelf.notes = {path.relative_to(template).as_posix(): path.read_bytes() for path in notes}
    question = "What do you remember, which facts and memories are worth keeping? 你记得哪些事实和记忆？"
    assert shelf.searcher().search(question, 50).hits
    assert shelf.open().recall(question, Asker(), 8).found == ()


def test_a_long_term_memory_with_a_fact_in_it_is_recalled_with_its_heading(shelf: Shelf) -> None:
    text = (PROJECT / "vault_template/en/MEMORY.md").read_text("utf-8")
    shelf.notes["MEMORY.md"] = text.replace("## People\n", "## People\n\n- Anna likes green tea.\n").encode()
    (found,) = shelf.open().recall("green tea", Asker(), 8).found
    assert "- Anna likes green tea." in found.text


def test_what_is_forgotten_does_not_come_back_by_the_log_of_a_day_on_which_it_was_said_again(shelf: Shelf) -> None:
    shelf.notes["daily/2026-11-20.md"] = (
        b"# 2026-11-20\n\n## 09:00 - Clara lives in Lisbon, near the river.\n\n- Answer: Noted.\n\n"
        b"## 09:05 - Clara visits us in May.\n\n- Answer: Lovely.\n"
    )
    recaller = replace(shelf.open(), forgotten=lambda: Tombstones(fingerprints("Clara lives in Lisbon.")))
    (found,) = recaller.recall("What did we say yesterday, where does Clara live?", Asker(), 8).found
    assert "Lisbon" not in found.model_text and "Clara visits us in May" in found.text


def test_a_quota_leaves_room_for_other_kinds(shelf: Shelf) -> None:
    for day in ("Monday", "Tuesday", "Friday"):
        shelf.put(f"The garden group meets on {day}", EntryType.FACT, scope=Scope.CHAT, chat_id="garden")
        shelf.put(f"I water the garden on {day}", EntryType.FACT)
    asker = Asker(chat="garden", is_owner=True)
    found = shelf.open(replace(SETTINGS, quotas="fact_chat:1, chat_turn_user:0")).recall("the garden", asker, 6).found
    assert sorted(each.scope for each in found) == ["chat", "user", "user", "user"]
    assert len(shelf.open().recall("the garden", asker, 6).found) == 6


def test_strangers_words_are_recalled_when_asked_for_but_never_unasked(shelf: Shelf) -> None:
    shelf.put("tea, said a page", EntryType.AUTO_FLUSH, untrusted=("https://a.example",))
    recaller = shelf.open()
    assert len(recaller.recall("tea", Asker(), 8).found) == 1
    assert recaller.recall("tea", Asker(), 8, unasked=True).found == ()


@given(st.text(max_size=4_000))
def test_a_question_is_never_taken_for_a_filter_and_never_endless(text: str) -> None:
    assert len(plain(text)) <= 3_100
    assert ":x" not in plain("type:x " + text[:20])[:7]


@dataclass(frozen=True, slots=True)
class Broken:
    """A model that fails as it is told to."""

    how: str
    go: Event = field(default_factory=Event)
    name: str = "fake-256"
    dimensions: int = 256

    def tokens(self, texts: Sequence[str]) -> list[Ints]:
        if self.how == "fails":
            raise RuntimeError("no more memory")
        if self.how == "hangs":
            assert self.go.wait(60)
        return [np.zeros(0, np.int32) for _ in texts]

    def vectors(self, tokens: Ints) -> Floats:
        return FakeEmbedder().vectors(tokens)


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("fails", "failed (RuntimeError: no more memory)"),
        ("hangs", "took longer than 0.05 s"),
        ("empty", "gave nothing"),
        ("missing", "no embedding model"),
    ],
)
def test_when_meaning_fails_keywords_answer_and_it_is_said(shelf: Shelf, how: str, reason: str) -> None:
    shelf.put("User: I drink green tea.")
    broken = Broken(how)
    main = shelf.searcher(KEYWORDS_ONLY if how == "missing" else FAKE)
    if how != "missing":
        main.chosen = EmbedderChoice(broken)
    words = Searcher(main.files, main.engine, EmbedderChoice(None), main.weights)
    fallback = DegradedSearch(patience=0.05 if how == "hangs" else 20.0)

    def find(text: str, limit: int) -> SearchResult:
        return fallback.search(
            lambda: main.search(text, limit, explain=True), lambda: words.search(text, limit, explain=True)
        )

    recaller = recaller_over(find, shelf.notes.get, lambda: NOW, SETTINGS)
    for _ in range(2):
        found = recaller.recall("green tea", Asker(), 8)
        assert said(found) == ["User: I drink green tea."]
        assert found.mode == "keyword"
        assert found.degraded is not None
        assert reason in found.degraded or "still hangs" in found.degraded
    broken.go.set()


def test_while_nothing_is_wrong_nothing_is_said() -> None:
    leg = Leg("unit_cosine", 1, 0.4, 0.1)
    answer = SearchResult("q", "hybrid", "fake", (replace(_hit("a.md", ()), why=(leg,)),))
    assert DegradedSearch().search(lambda: answer, lambda: SearchResult("q", "keyword", "fake")) == answer


STEP = IterationStarted("run", "sessions/a.md", 4, "plan the week")


def test_a_long_run_is_given_once_what_its_results_bring_up(shelf: Shelf) -> None:
    shelf.put("User: Lisbon is where my sister lives")
    told: list[object] = []
    ledger = SessionMemories()
    ledger.begin(Asker(session="sessions/a.md", run="run"), HeldText())
    refresh = refresh_subscriber(
        shelf.open(), ledger, SETTINGS, lambda event, most: "the flight to Lisbon"[-most:], lambda text: len(text) // 4,
        told.append,
    )  # fmt: skip
    assert refresh(replace(STEP, number=3)) == ()
    (injection,) = refresh(STEP)
    assert "Lisbon is where my sister lives" in injection.text and injection.type is InjectionType.MEMORY_RECALL
    assert [receipt.path for receipt in injection.receipts] == [*shelf.notes]
    assert told == [ContextRefreshed("run", "sessions/a.md", 4, 1)]
    assert refresh(replace(STEP, number=7)) == ()
    ledger.begin(Asker(session="sessions/a.md", run="run", since=NOW), HeldText())
    assert len(refresh(replace(STEP, number=10))) == 1


def test_results_that_no_memory_is_likely_to_help_with_bring_up_nothing(shelf: Shelf) -> None:
    shelf.put("User: the wifi password is on the router")
    ledger = SessionMemories()

    def refreshed(settings: MemorySettings) -> int:
        ledger.begin(Asker(session="s", run="run"), HeldText())
        found = "the packet is sent from router to router"
        handler = refresh_subscriber(
            shelf.open(settings), ledger, settings, lambda event, most: found, len, lambda event: None
        )
        return len(handler(replace(STEP, session="s")))

    assert refreshed(SETTINGS) == 0
    assert refreshed(replace(SETTINGS, floor="off")) == 1


def test_what_was_given_to_one_in_a_group_can_still_be_given_to_another() -> None:
    anna, ben = (Asker(name, "lark:room", is_owner=False, session="s", run=name) for name in ("anna", "ben"))
    ledger, tea = SessionMemories(), Remembered("tea.md", "", "", (1, 1), "tea is green", 1.0, "chat_turn")
    for each in (anna, ben):
        ledger.begin(each, HeldText())
    ledger.give(anna, (tea,))
    assert [ledger.held(each).has("- tea is green") for each in (anna, ben)] == [True, False]
    ledger.begin(anna, HeldText())  # a summary has taken the place of what she was given
    assert not ledger.held(anna).has("tea is green")


def test_a_refresh_keeps_to_its_tokens_and_to_its_switch(shelf: Shelf) -> None:
    for number in range(5):
        shelf.put(f"User: Lisbon {'abcde'[number] * 9} " + f"word{number} " * 60)
    ledger = SessionMemories()

    def refreshed(settings: MemorySettings) -> int:
        ledger.begin(Asker(session=f"s{settings.refresh_tokens}", run="run"), HeldText())
        handler = refresh_subscriber(
            shelf.open(settings), ledger, settings, lambda event, most: "a trip to Lisbon", lambda text: len(text) // 4,
            lambda event: None,
        )  # fmt: skip
        found = handler(replace(STEP, session=f"s{settings.refresh_tokens}"))
        return sum(len(each.text) // 4 for each in found)

    assert 0 < refreshed(SETTINGS) <= 500
    assert refreshed(replace(SETTINGS, refresh_tokens=40)) == 0
    assert refreshed(replace(SETTINGS, refresh=False)) == 0


def test_a_refresh_comes_every_so_many_steps_after_the_third() -> None:
    assert [step for step in range(1, 12) if is_due(step, 3)] == [4, 7, 10]
    assert [step for step in range(1, 8) if is_due(step, 1)] == [4, 5, 6, 7]


def test_topics_are_what_the_results_are_about_and_the_task_is_not() -> None:
    assert topics("Lisbon Lisbon flight week", "plan the week").split() == ["Lisbon", "flight"]
    assert topics("", "task") == ""


@pytest.mark.parametrize(
    "line",
    ["- **Name**: [to be filled]", "- **姓名**: [待填充]", "[待填充：用户的基本背景信息]", "* Age： [待填写]",
     "| Work | [to be filled in] |", "- tea: (not known yet)"],
)  # fmt: skip
def test_a_placeholder_in_the_profile_is_no_memory_and_what_is_filled_in_is_one(shelf: Shelf, line: str) -> None:
    path = "profile/00-basic-info.md"
    shelf.notes = {path: f"# Basics\n\n## Tea\n\n{line}\n".encode()}
    assert shelf.open().recall("tea name age work 姓名", Asker(), 8).found == ()
    shelf.notes = {path: f"# Basics\n\n## Tea\n\n{line}\n- **Drinks**: oolong tea [[tea]]\n".encode()}
    (found,) = shelf.open().recall("tea", Asker(), 8).found
    assert "oolong" in found.text and line not in found.text


@pytest.mark.parametrize(
    ("path", "given"),
    [
        ("garden.md", True),
        ("research/tea.md", True),
        ("inbox/tea.md", True),
        ("daily/2026-11-20.md", True),
        ("questions/tea.md", False),
        ("Templates/tea.md", False),
        ("sessions/2026/11/x-summary-y.md", False),
        ("sessions/2026/11/x.md", False),
        ("jobs/tea.md", False),
        ("Jobs/history/tea.md", False),
        ("tasks/tea.md", False),
        ("TASKS/done/tea.md", False),
        ("reflections/2026-11/tea.md", False),
        ("rules/tea.md", False),
        ("prompts/system.md", False),
        ("approvals/tea.md", False),
        ("skills/tea/SKILL.md", False),
        ("entries/tea.md", False),
        ("archive/tea.md", False),
        ("AGENT.md", False),
    ],
)
def test_only_knowledge_comes_before_a_task_as_a_note(path: str, given: bool) -> None:
    """Memories come by their own way; what steers, and what the agent writes of its own work, is no knowledge."""
    assert is_recalled_as_note(Hit(path, "", None, 1.0, (1, 1), "Tea.", ()), AT_ROOT) is given


@pytest.mark.parametrize("heading", ["Sources", "来源"])
def test_what_a_research_has_read_is_no_knowledge(heading: str) -> None:
    listed = Hit("research/tea.md", "Tea", None, 1.0, (30, 40), "1. [[plan]]", ("2026-12-05 10:00", heading))
    assert not is_recalled_as_note(listed, AT_ROOT)
    assert is_recalled_as_note(replace(listed, headings=("2026-12-05 10:00", "In short")), AT_ROOT)


@pytest.mark.parametrize("path", ["entries/tea.md", "daily/2026-11-20.md", "profile/tea.md", "MEMORY.md", "tea.md"])
def test_whoever_asks_for_knowledge_finds_memories_and_notes(path: str) -> None:
    assert may_be_offered(Hit(path, "", None, 1.0, (1, 1), "Tea.", ()), AT_ROOT)


def test_what_is_faint_beside_the_best_is_no_memory_for_the_task(shelf: Shelf) -> None:
    """In a small vault the other places would be given to whatever shares a word with the question."""
    born, lives, key = (
        shelf.put(text, EntryType.FACT) for text in ("Mara was born on 3 May", "Mara lives in Lisbon", "A key of Ana's")
    )
    hits = tuple(_hit(each.path, _facets(each), score) for each, score in ((born, 2.0), (lives, 1.2), (key, 0.3)))
    answer = SearchResult("", "keyword", "fake", hits)
    recaller = recaller_over(lambda text, limit: answer, shelf.notes.get, lambda: NOW, SETTINGS)
    assert said(recaller.recall("When was Mara born?", Asker(), 8)) == [born.text, lives.text]


def test_what_was_replaced_is_given_for_the_past_and_when_the_newer_one_is_deleted(shelf: Shelf) -> None:
    older = Entry("01HZZZZZZZ0000000000000001", NOW, "My sister Mara lives in Porto.", EntryType.FACT)
    newer = Entry("01HZZZZZZZ0000000000000002", NOW, "Mara lives in Lisbon now.", EntryType.FACT, supersedes=older.link)
    shelf.notes[older.path] = replace(older, superseded_by=newer.link).note()
    shelf.notes[newer.path] = newer.note()

    def given(question: str) -> set[str]:
        return {each.text for each in shelf.open().recall(question, Asker(), 8).found}

    assert given("Where does my sister Mara live?") == {newer.text}
    assert given("Where did my sister Mara live before?") == {older.text, newer.text}
    del shelf.notes[newer.path]
    assert given("Where does my sister Mara live?") == {older.text}


def test_what_was_replaced_since_the_index_saw_it_is_given_for_the_past_only(shelf: Shelf) -> None:
    older = Entry("01HZZZZZZZ0000000000000001", NOW, "Mara lives in Porto with Ana.", EntryType.FACT)
    newer = Entry("01HZZZZZZZ0000000000000002", NOW, "Mara lives in Lisbon with Rui.", EntryType.FACT)
    shelf.notes |= {older.path: older.note(), newer.path: newer.note()}
    recaller = shelf.open()  # with an index of now; then one takes the place of the other
    shelf.notes[older.path] = replace(older, superseded_by=newer.link).note()
    assert said(recaller.recall("Where does Mara live?", Asker(), 8)) == [newer.text]
    assert older.text in said(recaller.recall("Where did Mara live before?", Asker(), 8))


def test_a_question_that_cannot_be_asked_is_no_failure_of_the_model(caplog: pytest.LogCaptureFixture) -> None:
    def refused() -> SearchResult:
        raise UserError("someday is not a day", hint="write it as 2023-05-08")

    with pytest.raises(UserError, match="someday"):
        DegradedSearch().search(refused, lambda: pytest.fail("keywords cannot answer it either"))
    assert not caplog.records
