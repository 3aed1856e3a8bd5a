"""Promise 17: foreign text stays text, in whatever field and wherever it is shown: terminal, pipe and note."""

import io
import os
import pty
import random
import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.asking.proposal import Proposal
from agent.asking.questions.question import Question
from agent.escape import Escaper
from agent.events.runs import Speaker, TaskCompleted, ToolCallFailed
from agent.interfaces.cli import printing, prompt
from agent.interfaces.cli.decide import approval_frame, approval_prompt, question_frame
from agent.interfaces.cli.main import main
from agent.interfaces.cli.output import Output, say
from agent.interfaces.cli.printing import show_framed
from agent.interfaces.cli.prompt import keyboard
from agent.interfaces.cli.screen import Screen
from agent.interfaces.cli.terminal import markdown
from agent.llm.messages import Assistant, Context, ToolCall, ToolResult, User
from agent.loop import record_format
from agent.loop.record_format import format_records
from agent.loop.record_parse import parse_records
from agent.loop.records import Began, Closed, SessionRecord, Spoken, Tainted
from agent.markdown import blocks, requests, session_marks
from agent.markdown.inertness import active
from agent.markdown.inertness.active import active_parts, inert
from agent.markdown.note import Note
from agent.markdown.yaml_write import Value
from agent.memory.daily import log_block
from agent.runs.named_decisions import approval_text
from agent.skills.trust.reviews import ask_reviews as ask_about
from agent.texts import Language
from agent.tools.approval_note import compose, diff, format_call, title, why_asked
from agent.tools.tool import Draft
from tests.skills.shelves import library
from tests.skills.shelves import text as skill_text
from tests.tools.house import house
from tests.trust.payloads import BOXES, PIECES, check_asks, check_markup, check_shown, hidden, payloads
from tests.trust.plants import Put
from tests.vaults import git, make_vault

AT = datetime(2026, 11, 21, 14, 12, tzinfo=UTC)
COUNT = pytest.mark.parametrize("count", [100, pytest.param(1_000, marks=pytest.mark.chaos)])


class Tty(io.StringIO):
    """A terminal that remembers what it was sent."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def a_real_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "30")


@contextmanager
def shown(*, terminal: bool) -> Iterator[io.StringIO]:
    """What is printed meanwhile on standard output and standard error."""
    stream = Tty() if terminal else io.StringIO()
    with redirect_stdout(stream), redirect_stderr(stream):
        yield stream


def asked_about(text: str) -> Proposal:
    """An approval in which every field is the text's."""
    call = format_call(text, {text: text, "list": [text]})
    drafts = [Draft(text, f"{text}\n".encode(), f"{text}\n{text}\n".encode())]
    change = diff(drafts)
    id, question, why = "01M81R6R50WX965FMJD1VYEKVF", title(text, drafts, "en"), why_asked(text, "en")
    bases = {text: "", "a.md": ""}
    return Proposal("call", text, text, id, AT, question, "0" * 64, "0" * 64, call, bases=bases, why=why,
                    change=change, expires=AT, status="pending", run="r", session="s", call="c")  # fmt: skip


def answered(text: str) -> None:
    """A model's answer, in pieces cut anywhere."""
    chance, screen = random.Random(text), Screen(True)
    while text:
        cut = chance.randint(1, 9)
        screen.show_text(text[:cut])
        text = text[cut:]
    screen.end_line()


def answered_plainly(text: str) -> None:
    """The same on a terminal on which nothing can be drawn."""
    before, os.environ["TERM"] = os.environ["TERM"], "dumb"
    try:
        answered(text)
    finally:
        os.environ["TERM"] = before


def approved(text: str) -> None:
    asked = asked_about(text)
    show_framed(approval_frame(asked, text.encode(), "en", 80, 30))
    keyboard(approval_prompt(asked, "en"))


def questioned(text: str) -> None:
    show_framed(question_frame(Question("q", text, text, (text, "no"), "r", None, ""), "en", 80, 30))
    keyboard(f"Your answer to {text[:60]} (empty: later)? ")


FIELDS: dict[str, tuple[Callable[[str], object], int]] = {
    "an answer in pieces": (answered, 0),
    "an answer where nothing is drawn": (answered_plainly, 0),
    "a tool and its error": (lambda text: Screen(True).on_event(ToolCallFailed("r", "s", "c", text, 1.0, text)), 0),
    "an error": (lambda text: say(f"error: {text}\n  hint: {text}"), 0),
    "a warning": (lambda text: Output().warn(text), 0),
    "a result": (lambda text: Output().emit({}, text), 0),
    "a list of approvals": (lambda text: Output().emit({}, approval_text(asked_about(text), b"", "en")), 0),
    "an approval": (approved, 1),
    "a question": (questioned, 1),
    "a file": (lambda text: Output().emit({}, text.encode()), 0),
    "a document": (lambda text: Output(json=True).emit({text: [text]}, ""), 0),
}
ON_TERMINALS = {"an answer in pieces", "an answer where nothing is drawn", "an approval", "a question", "a file"}


def check_field(name: str, text: str, *, terminal: bool) -> None:
    """A text in a field, shown."""
    field, frames = FIELDS[name]
    stdin, sys.stdin = sys.stdin, io.StringIO("n\n")
    try:
        with shown(terminal=terminal) as stream:
            field(text)
    finally:
        sys.stdin = stdin
    check_shown(stream.getvalue(), terminal=terminal, frames=frames, prompts=frames)


@COUNT
def test_on_a_terminal_nothing_is_styled_and_no_prompt_forged(count: int) -> None:
    for text in payloads(count):
        for name in FIELDS:
            check_field(name, text, terminal=True)


@COUNT
def test_into_a_pipe_goes_plain_text(count: int) -> None:
    for text in payloads(count):
        for name in FIELDS.keys() - ON_TERMINALS:
            check_field(name, text, terminal=False)


@COUNT
def test_a_note_that_asks_for_a_yes_asks_what_the_program_asks(count: int) -> None:
    for text in payloads(count):
        asked = asked_about(text)
        header: dict[str, Value] = {"type": "approval", "untrusted": (text,), "source": text}
        data = compose(header, asked, "en")
        assert dict(Note.parse(data).header) == header
        check_asks(data, BOXES, headings=3)
        assert data.decode().count("\nReason: \n") == 1


@COUNT
def test_a_question_is_answered_by_the_person_alone(tmp_path: Path, count: int) -> None:
    home = house(tmp_path)
    texts = list(payloads(count))
    for number in range(0, count, 10):
        ten = texts[number : number + 10]
        options = [each[:200] for each in ten]
        path = _question(home.call, "\n".join(ten)[:4000], options)
        data = home.text(path).encode()
        boxes = [task for task in re.findall(r"^- \[ \] (.*)$", data.decode(), re.MULTILINE)]
        check_asks(data, boxes, headings=2)
        assert len(boxes) <= 10
        assert _question(home.call, "\n".join(ten)[:4000], options) == path, "it answered itself"


def _question(call: Callable[..., object], question: str, options: Sequence[str]) -> str:
    from agent.errors import QuestionAsked

    with pytest.raises(QuestionAsked) as error:
        call("human_ask", question=question, options=list(options))
    return error.value.path


@COUNT
def test_a_sessions_note_has_its_own_headings_only_and_reads_back(count: int) -> None:
    for text in payloads(count):
        said = [
            SessionRecord(AT, event)
            for event in (
                Began("r", text, "cli", text), Spoken(User(text, text)), Spoken(Context(text, text)), Tainted(text),
                Spoken(Assistant(text, (ToolCall("1", text, {text: text}),))),
                Spoken(ToolResult("1", text, text, True)),
                Closed("r", "failed", text),
            )
        ]  # fmt: skip
        note = format_records(said)
        check_session(note, shown=3, folded=2, count=5)  # marks between two messages share a line
        assert parse_records(note) == said


def check_session(note: str, *, shown: int, folded: int, count: int) -> None:
    """A session's note with so many records, under so many headings and in so many callouts."""
    assert hidden(note.replace("\r\n", "\n")) == [], "acts or hides"
    body = blocks.parse_body(note)
    assert len(re.findall(r"^ {0,3}#{1,6} \d\d:\d\d", body.visible, re.MULTILINE)) == shown, "a forged heading"
    assert len(re.findall(r"^[> ]*\[!quote\]-", body.visible, re.MULTILINE)) == folded, "a forged callout"
    assert len(re.findall(r"^(?:> )?%% vault-agent: ", note, re.MULTILINE)) == count, "a forged record"
    assert not re.search(r"<[a-z/!]", re.sub("<https:[^>]*>|<b>", "", body.visible)), "a forged heading"
    assert not [each for each in active_parts(body.visible) if each.startswith("![")], "would load"


@COUNT
def test_an_answer_in_a_note_ends_where_the_program_ends_it(count: int) -> None:
    for text in payloads(count):
        base = b"---\nagent: ask\n---\nWhich tea?\n"
        (request,) = requests.open_requests(base, whole=False)
        data = requests.with_answer(base, request, requests.Answer("r1", inert(text), "done"))
        assert data is not None
        assert hidden(data.decode()) == [], "acts or hides"
        assert data.decode().count("%%") == 4, "a forged mark"
        assert requests.own_words(data).strip() == "Which tea?"
        assert requests.open_requests(data, whole=False) == ()
        day = log_block(TaskCompleted("r", "s", text, Speaker("cli"), "finished", text, (), 1, 1), AT, "en")
        assert hidden(day) == [] and day.count("\n### ") == 1, "acts or hides"
        check_markup(day)


@COUNT
def test_a_skill_under_review_hides_nothing(tmp_path: Path, count: int) -> None:
    body = "# A\n\n" + "\n".join(payloads(count))
    vault = make_vault(tmp_path, {"skills/a/SKILL.md": skill_text("a", body=body)})
    made = library(tmp_path)
    (path,) = ask_about(vault, made, made.snapshot().skills, AT)
    check_asks((vault.place.root / path).read_bytes(), BOXES, headings=3)


@COUNT
def test_commands_show_notes_and_history_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    texts = list(payloads(count))
    root = make_vault(tmp_path, {"a.md": "# Tea\n"}).place.root
    (root / "a.md").write_text("# Tea \x1b[8m\u202e\n\n" + "\n\n".join(texts), "utf-8")
    (root / "tea\u202e\x1b[8m.md").write_text("tea", "utf-8")
    git(root, "add", "-A")
    name = "Eve \x1b[8m\u202e"
    git(root, "-c", f"user.name={name}", "commit", "-q", "-m", f"tea \x1b]0;x\x07{texts[0].splitlines()[0]}")
    for each in ("tea\nforged.md", "tea\u2028forged.md"):
        (root / each).write_text("not committed", "utf-8")
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("VAULT_AGENT_VAULT", raising=False)
    monkeypatch.chdir(root)
    for words in (["log"], ["diff", "HEAD"], ["get", "a.md"], ["search", "tea"], ["get", f"no{texts[1]}"], ["status"]):
        with shown(terminal=True) as stream:
            main(words)
        check_shown(stream.getvalue(), terminal=True)
        assert "\nforged" not in stream.getvalue()
        assert "tea" in stream.getvalue()
    for words in (["log"], ["search", "tea"], ["log", "--json"], ["get", "a.md", "--json"], ["status"], ["commit"]):
        with shown(terminal=False) as stream:
            main(words)
        check_shown(stream.getvalue(), terminal=False)
        assert "\nforged" not in stream.getvalue()
        assert "tea" in stream.getvalue().lower()


def test_what_was_typed_before_the_prompt_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    assert typed_early(monkeypatch) == "no"
    monkeypatch.setattr(prompt, "_forget_typed", lambda: None)
    assert typed_early(monkeypatch) == "yes", "the test would not notice"


def typed_early(monkeypatch: pytest.MonkeyPatch) -> str:
    """What a prompt gets from somebody who typed yes before it came and no after it."""
    person, inside = pty.openpty()
    os.write(person, b"yes\n")
    with os.fdopen(inside, "r+b", buffering=0) as raw, io.TextIOWrapper(raw, write_through=True) as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        monkeypatch.setattr(sys, "stdout", stream)
        answering = threading.Thread(target=_answer, args=(person,))
        answering.start()
        said = keyboard("Allow it? ")
        answering.join()
    os.close(person)
    return said.strip()


def _answer(person: int) -> None:
    seen = b""
    while b"Allow it?" not in seen:
        seen += os.read(person, 4096)
    os.write(person, b"no\n")


def test_the_question_shows_our_own_record_whatever_the_note_says_by_now(tmp_path: Path) -> None:
    home = house(tmp_path, {"rules/tea.md": "Offer coffee.\n"})
    path = home.asks("vault_write", path="rules/tea.md", content="Always offer tea.\n")
    note = home.vault.place.root / path
    note.write_text(home.text(path).replace("+Always offer tea.", "+Offer coffee, too."), "utf-8")
    asked = home.approvals.find(path)
    assert asked is not None
    lines = "\n".join(str(line) for line in approval_frame(asked, note.read_bytes(), "en", 80, 24))
    assert "+Always offer tea." in lines and "Offer coffee, too." not in lines


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_long_call_fits_the_screen_and_says_that_it_is_cut(language: Language) -> None:
    change = diff([Draft(f"{number}.md", None, b"x" * 5_000 + b"\ny\n" * 50) for number in range(40)])
    call = format_call("vault_write", {"paths": [f"{number}.md" for number in range(40)], "text": "z" * 9_000})
    paths = {f"a folder/{number}{'n' * 200}.md": "" for number in range(40)}
    asked = replace(asked_about("x"), path="approvals/x.md", name="vault_write", shown=call, change=change, bases=paths)
    with shown(terminal=True) as stream:
        show_framed(approval_frame(asked, b"", language, 80, 30))
    rows = stream.getvalue().splitlines()
    assert 20 <= len(rows) <= 30
    assert ("NOT ALL IS SHOWN" if language == "en" else "没有全部显示") in rows[-2] and "approvals/x.md" in rows[-1]
    line = approval_prompt(asked, language)
    assert '"a folder/0' in line and "37" in line and len(line) < 320


def test_the_note_or_the_tool_stands_in_the_last_line() -> None:
    asked = replace(asked_about("x"), name="vault_append", bases={"AGENT.md": ""})
    assert approval_prompt(asked, "en") == "May I change AGENT.md? yes, no (and why), or later? "
    fetch = replace(asked, name="web_fetch", bases={}, shown=format_call("web_fetch", {"url": "https://a.example/x"}))
    assert approval_prompt(fetch, "en").startswith('Allow web_fetch with "https://a.example/x"? yes')
    assert approval_prompt(asked, "zh").startswith("可以修改 AGENT.md 吗？")


def test_every_kind_of_text_is_tried() -> None:
    tried = "\n".join(payloads(100))
    assert [piece for pieces in PIECES.values() for piece in pieces if piece not in tried] == []


def unescaped_rows(put: Put) -> None:
    """Markdown is rendered as it came."""
    for name in ("escape", "one_line"):
        put(markdown, name, lambda text: text)


PLANTS: tuple[tuple[str, Callable[[Put], None], str], ...] = (
    ("colours are obeyed", lambda put: put(printing, "escape", lambda text: text), "acts or hides"),
    ("edges are not reserved", lambda put: put(printing, "_EDGES", re.compile("(?!)")), "a forged"),
    ("lines are not wrapped", lambda put: put(printing, "wrapped", lambda line, width: [line]), "wraps|frame"),
    ("rendered text is not escaped", unescaped_rows, "acts or hides"),
    ("pieces are not escaped", lambda put: put(Escaper, "feed", lambda self, piece: piece), "acts or hides"),
)


@pytest.mark.parametrize(("bug", "plant", "words"), PLANTS, ids=[bug for bug, *_ in PLANTS])
def test_a_planted_bug_is_caught(
    monkeypatch: pytest.MonkeyPatch, bug: str, plant: Callable[[Put], None], words: str
) -> None:
    plant(monkeypatch.setattr)
    with pytest.raises(AssertionError, match=words):
        test_on_a_terminal_nothing_is_styled_and_no_prompt_forged(100)


def test_planted_bugs_in_notes_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    never = re.compile("(?!)()()")
    for module, name, value in (
        (session_marks, "_PROTECT", never),
        (active, "active_parts", lambda text: ()),
        (record_format, "is_inert", lambda text: True),
    ):
        with monkeypatch.context() as patch, pytest.raises(AssertionError):
            patch.setattr(module, name, value)
            test_a_sessions_note_has_its_own_headings_only_and_reads_back(100)
    assert Note.parse(compose({"type": "approval"}, asked_about("x"), "en")).type == "approval"
