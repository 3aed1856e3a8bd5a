"""The response to one message of the owner's: a decision by its code, or a run whose answer goes back to the chat.

A run is known by its session and its id from its begin on, so that a program that was stopped goes on with it, or finds
its answer, and does not begin it twice.
"""

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from agent.asking.codes import codes_by_path
from agent.asking.replies import parse_decision
from agent.attention.channels.channel import FileSource, Incoming
from agent.background.incoming.files import take_files
from agent.background.incoming.group_talk import GroupMessage, GroupTalk
from agent.background.incoming.queue import MessageQueue, PendingMessage
from agent.background.resume import OpenRuns
from agent.context.prompt import GROUP_TALK, NOTICE
from agent.dataclass import dataclass
from agent.errors import AgentError, NoteGone
from agent.events.bus import Injection
from agent.events.runs import Speaker, TaskStarted
from agent.llm.messages import Assistant, Cancelled
from agent.loop.outcome import Ended, RunOutcome
from agent.loop.planning import plan_in
from agent.loop.records import Began, Closed, RunRequest, Spoken
from agent.loop.session import Session, load_session
from agent.runs.captured_files import has_picture
from agent.runs.crash_recovery import is_own
from agent.runs.decisions import approvals
from agent.runs.registry import run_registry
from agent.runs.replies import carry_out, choices_of
from agent.runs.run_io import RunIO
from agent.runs.service import RunService
from agent.runs.waiting_questions import waiting_question
from agent.texts import text
from agent.tools.taint import frame
from agent.workspace.workspace import Workspace

LONGEST = 3_500
"""The most characters of an answer in a messenger; the session's note has the whole."""
_EMBED = re.compile(r"!\[\[[^\]]+\]\]")
"""A file that was kept, in a line of its own."""
_GREETINGS = frozenset({"/start", "/help"})
"""What messengers send when a person opens the chat with a bot."""


NoticeText: TypeAlias = Callable[[str], str]
"""Returns the words of the notice that the channel has shown under an id of its own; empty if there is none."""


def no_notice(proof: str) -> str:
    """Empty: no notices are known."""
    return ""


@dataclass(frozen=True, slots=True)
class Responder:
    """Responds to the messages of one channel, the `name`. With `notice_text` a run hears which notice its message is
    a reply to; `owner` is the owner's account there, whose words in a group are named as theirs."""

    workspace: Workspace
    open_runs: OpenRuns
    queue: MessageQueue
    name: str
    notice_text: NoticeText = no_notice
    owner: str = ""
    files: FileSource | None = None
    """Fetches the files of messages; None: the channel has none."""

    def respond(self, entry: PendingMessage, cancelled: Cancelled) -> None:
        """Bring a message to an answer, or to where its run waits; it stays as it is if the program is stopped.

        Raises what a run does.
        """
        if entry.phase == "new" and entry.message.files and self.files is not None:

            def save(message: Incoming) -> None:
                with self.queue.changing():
                    entry.message = message

            taken = take_files(self.workspace, self.name, self.files, entry.message, cancelled, save)
            with self.queue.changing():  # they are fetched once, whenever the program is stopped
                entry.message, entry.remarks = taken.message, "\n".join(taken.remarks)
            if taken.remarks and not _has_words(taken.message):
                self._answer(entry, "")
                return
        if entry.phase == "new":
            answer = self._decided(entry)
            if answer is not None:
                self._answer(entry, answer)
                return
        if entry.run and self._is_saved(entry):
            self._go_on(entry, cancelled)
        else:
            self._ask(entry, cancelled)

    def look(self, entry: PendingMessage) -> None:
        """Take in what became of a run that waited, if it is over or waits for something else by now."""
        try:
            session = load_session(self.workspace.vault, entry.session)
        except NoteGone:
            self.queue.done(entry)
            return
        closed = _closed(session, entry.run)
        marks = run_registry(self.workspace.vault)
        if closed is None or closed.outcome == RunOutcome.INTERRUPTED or marks.is_held(session.id):
            return
        if RunOutcome(closed.outcome).waits:
            mark = marks.get(session.id)
            if mark is not None and mark.waits_for and mark.waits_for != entry.waits_for:
                self._tell_wait(entry, mark.waits_for)
            return
        self._take_result(entry, session, closed)

    def _decided(self, entry: PendingMessage) -> str | None:
        """The result of a decision, or the reply to a message that asks nothing; None if it is for a run. Only the
        sender's own words decide."""
        message, language = entry.message, self.workspace.settings.vault.language
        words = message.text.strip() or message.words
        if words in _GREETINGS:
            return text("messages.hello", language)
        if not words and not message.foreign:  # a picture, a voice, or what else has no words
            return text("messages.no_words", language)
        if not message.words:
            return None
        reply = parse_decision(words)
        return carry_out(self.workspace, reply) if reply is not None else None

    def _ask(self, entry: PendingMessage, cancelled: Cancelled) -> None:
        message = entry.message
        channel = f"{self.name}:{message.chat}" if message.group else self.name
        speaker = Speaker(channel, group=message.group, origin=message.origin)
        before = self._recent_talk(message) if message.group else ()
        talk = self._talk(before)
        notice = "" if message.answers in self.queue.sessions else self.notice_text(message.answers)
        untrusted = text("messages.from_notice", "en") if notice else ""  # it may be made of what others wrote
        others = "messages.in_group" if message.group else "messages.forwarded"
        source = text(others, "en", channel=self.name) if message.foreign or talk else ""
        language = self.workspace.settings.vault.language
        words = message.words or text("messages.passed_on", language)
        quoted = frame(message.foreign, source) if message.foreign else ""
        with self.open_runs() as runs:
            self._note_begin(runs, entry, notice, quoted, frame(talk, source) if talk else "", before)
            request, line = RunRequest(words, speaker), RunIO(cancelled=cancelled)
            self._take_end(
                entry, runs.ask(request, self._session_of(message, runs, speaker), line, source or untrusted)
            )

    def _go_on(self, entry: PendingMessage, cancelled: Cancelled) -> None:
        """Resume the run of a message, or take its result if it has ended."""
        session = load_session(self.workspace.vault, entry.session)
        closed = _closed(session, entry.run)
        began = session.open_run
        if began is not None and began.run == entry.run and not session.waits:
            with self.open_runs() as runs:
                self._take_end(entry, runs.resume(session.path, RunIO(cancelled=cancelled)))
        elif closed is not None and RunOutcome(closed.outcome).waits:
            mark = run_registry(self.workspace.vault).get(session.id)
            waits_for = mark.waits_for if mark is not None else ""
            if waits_for and waits_for == entry.waits_for:  # the person was told before
                with self.queue.changing():
                    entry.phase = "waits"
            else:
                self._tell_wait(entry, waits_for)
        elif closed is not None:
            self._take_result(entry, session, closed)
        else:
            self._answer(entry, text("messages.stopped", self.workspace.settings.vault.language))

    def _recent_talk(self, message: Incoming) -> tuple[GroupMessage, ...]:
        return group_talk(self.workspace, self.name).recent(message.chat, self.workspace.clock.now())

    def _talk(self, before: Sequence[GroupMessage]) -> str:
        """The messages of others in a group since the agent was named there last."""
        owner_name = text("messages.owner", self.workspace.settings.vault.language)
        return group_talk(self.workspace, self.name).text(before, self.owner, owner_name)

    def _note_begin(
        self,
        runs: RunService,
        entry: PendingMessage,
        notice: str,
        quoted: str,
        talk: str,
        before: Sequence[GroupMessage],
    ) -> None:
        """Write down the session and the run when it begins, before a model is asked; the model is given the `notice`
        that the message answers, what it has `quoted` of others, and the `talk` in its group `before` it."""

        is_noted = False

        def begun(event: TaskStarted) -> tuple[Injection, ...]:
            nonlocal is_noted
            if is_noted:  # it is a part of the run
                return ()
            is_noted = True
            with self.queue.changing():
                entry.phase, entry.session, entry.run = "running", event.session, event.run
            if talk:
                now = self.workspace.clock.now()
                group_talk(self.workspace, self.name).drop(entry.message.chat, before, now)
            intro = text("messages.answers_notice", self.workspace.settings.vault.language, notice=notice)
            seen = text("messages.picture", "en") if has_picture(entry.message.text) else ""
            injections = (
                *(Injection(intro if notice else "", NOTICE), Injection(quoted, NOTICE)),
                *(Injection(talk, GROUP_TALK), Injection(seen, NOTICE)),
            )
            return tuple(each for each in injections if each.text)

        runs.bus.subscribe(begun, TaskStarted, name="message: begun", timeout=None)

    def _take_end(self, entry: PendingMessage, ended: Ended) -> None:
        """The answer, or what the run waits for; nothing yet for a run that was stopped with the program."""
        with self.queue.changing():
            entry.phase, entry.session, entry.run = "running", ended.session, ended.run
        if ended.outcome is RunOutcome.INTERRUPTED:
            return
        if ended.outcome.waits:
            self._tell_wait(entry, ended.waits_for)
        elif ended.outcome is RunOutcome.FINISHED:
            self._answer(entry, ended.remarked)
        else:
            self._fail(entry, ended.remarked, ended.reason, ended.hint)

    def _take_result(self, entry: PendingMessage, session: Session, closed: Closed) -> None:
        """The answer of a run that ended elsewhere, from its session."""
        messages = [each.message for each in session.of_run(entry.run) if isinstance(each, Spoken)]
        answer = next((each.text for each in reversed(messages) if isinstance(each, Assistant) and each.text), "")
        if closed.outcome == RunOutcome.FINISHED:
            self._answer(entry, answer)
        else:
            self._fail(entry, "", closed.reason, "")

    def _fail(self, entry: PendingMessage, answer: str, reason: str, hint: str) -> None:
        language = self.workspace.settings.vault.language
        parts = [answer, text("messages.failed", language, reason=". ".join(filter(None, (reason, hint))))]
        self._answer(entry, "\n\n".join(filter(None, parts)))

    def _tell_wait(self, entry: PendingMessage, note: str) -> None:
        """Ask the person in the chat what the run waits for; its answer comes later."""
        question = "\n\n".join(filter(None, (self._plan_of(entry), describe_wait(self.workspace, note))))
        choices = choices_of(self.workspace, note)
        with self.queue.changing():
            entry.phase, entry.waits_for = "answered", note
            entry.text, entry.choices, entry.tries, entry.again = question, choices, 0, False

    def _plan_of(self, entry: PendingMessage) -> str:
        """Where a run is in its plan; empty if it has none."""
        try:
            plan = plan_in(load_session(self.workspace.vault, entry.session).of_run(entry.run))
        except AgentError:
            return ""
        language = self.workspace.settings.vault.language
        return self.workspace.vault.masked(plan.in_one_line(language)) if plan is not None else ""

    def _answer(self, entry: PendingMessage, answer: str) -> None:
        """Have this said in the chat; then the message is done with."""
        vault, language = self.workspace.vault, self.workspace.settings.vault.language
        answer = "\n\n".join(filter(None, (answer.strip(), entry.remarks)))
        answer = vault.masked(answer) or text("messages.nothing", language)
        if len(answer) > LONGEST:
            rest = text("messages.more", language, session=entry.session)
            answer = f"{answer[:LONGEST].rsplit(maxsplit=1)[0]}…\n\n{rest}"
        with self.queue.changing():
            entry.phase, entry.waits_for = "answered", ""
            entry.text, entry.choices, entry.tries, entry.again = answer, (), 0, False

    def _session_of(self, message: Incoming, runs: RunService, speaker: Speaker) -> str:
        """The session that a message goes on with: the one of what it answers, else the last; empty for a new one.

        Where messages have subjects, conversations are kept apart: there the last one is not gone on with.
        """
        answered = self.queue.sessions.get(message.answers)
        if message.begins or (message.subject and not answered):
            return ""
        found = runs.last_session(speaker, (answered,)) if answered else None
        found = found or runs.last_session(speaker)
        if found is None or found.open_run is not None or not is_own(runs.workspace, found) or runs.is_stale(found):
            return ""
        return found.path

    def _is_saved(self, entry: PendingMessage) -> bool:
        """True if the note of the session has the run; one that was stopped before has done nothing."""
        try:
            session = load_session(self.workspace.vault, entry.session)
        except AgentError:
            return False
        return any(isinstance(each.event, Began) and each.event.run == entry.run for each in session.records)


def _has_words(message: Incoming) -> bool:
    """True for a message that says more than which files came with it."""
    rows = f"{message.words}\n{message.foreign}".splitlines()
    return any(row.strip() and not _EMBED.fullmatch(row.strip()) for row in rows)


def group_talk(workspace: Workspace, channel: str) -> GroupTalk:
    """The latest messages in the groups of a channel."""
    vault = workspace.vault
    return GroupTalk(vault.records, channel, vault.masked, workspace.settings.context.group_messages)


def describe_wait(workspace: Workspace, note: str) -> str:
    """A description of what waits in a note, for a decision in a messenger: what would be done, and how to reply."""
    vault, language = workspace.vault, workspace.settings.vault.language
    code = codes_by_path(workspace.vault).get(note, "")
    question = waiting_question(workspace, note)
    if question is not None:
        how = text("messages.choose" if question.options else "messages.answer", language, code=code)
        return vault.masked("\n".join([question.text, *question.numbered, "", how]))
    asked = approvals(workspace).find(note)
    if asked is None:
        return text("answers.waits", language, note=note)
    description = "\n".join(filter(None, [asked.why, asked.shown, asked.change]))
    if len(description) > LONGEST:
        description = description[:LONGEST] + "…\n" + text("messages.not_all", language, note=note)
    head = text("messages.approve", language, tool=asked.name)
    return vault.masked("\n".join([head, description, "", text("reply.how", language, code=code)]))


def _closed(session: Session, run: str) -> Closed | None:
    """The last end, or pause, of a run; None while there is none."""
    ends = (each.event for each in reversed(session.records) if isinstance(each.event, Closed))
    return next((each for each in ends if each.run == run), None)
