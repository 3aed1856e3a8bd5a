"""The files of a message: kept in the vault in one commit, and voice messages written down, before a run begins.

What the owner has said themselves counts as their words; what they pass on is somebody else's. A voice decides nothing:
a program may have misheard it.
"""

import logging
from collections.abc import Iterator
from dataclasses import replace

from agent.attention.channels.channel import FileSource, Incoming, SentFile
from agent.attention.transcription import can_transcribe, transcribe
from agent.dataclass import dataclass
from agent.errors import AgentError, Permanent, Retryable, UserError
from agent.llm.messages import Cancelled
from agent.runs.kept_files import CapturedFile, kept_files, note_strangers
from agent.texts import Sentence, text, translated
from agent.vault.change import Stamp
from agent.workspace.workspace import Workspace

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TakenFiles:
    """A message whose files are kept: `message` has them in its words, as links, with what was said in them. `remarks`
    are for the person: what is kept and was not written down, or was not kept, and why."""

    message: Incoming
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Kept:
    file: SentFile
    path: str


def take_files(
    workspace: Workspace, channel: str, source: FileSource, message: Incoming, cancelled: Cancelled
) -> TakenFiles:
    """Fetch the files of a message, keep them, and write voice messages down. Raises `Retryable` for a service that may
    answer later, and what a transaction raises."""
    remarks, kept = list[str](), list[_Kept]()
    for file in message.files:
        try:
            kept.append(_Kept(file, _keep(workspace, channel, source, file, cancelled)))
        except Retryable:
            raise
        except (UserError, Permanent) as error:
            remarks.append(_said(workspace, "messages.file_refused", error, name=file.name))
    own, others = [message.text], [message.foreign]
    for each in kept:
        told = "\n\n".join(filter(None, (f"![[{each.path}]]", *_written(workspace, each, remarks, cancelled))))
        (own if each.file.is_own else others).append(told)
    words = (own, others)
    own_words, foreign = ("\n\n".join(filter(None, (part.strip() for part in each))) for each in words)
    return TakenFiles(replace(message, text=own_words, foreign=foreign, files=()), tuple(remarks))


def _keep(workspace: Workspace, channel: str, source: FileSource, file: SentFile, cancelled: Cancelled) -> str:
    """Keep one file; its path."""
    vault, run = workspace.vault, workspace.clock.new_id()
    most = int(workspace.settings.capture.largest_megabytes * 1_000_000)
    data = source.fetch(file, most, cancelled)
    ((path, content),) = kept_files(workspace, [CapturedFile(file.name, data)], workspace.clock.now().astimezone())
    note_strangers(vault, run, [(path, content)], channel)
    subject = Sentence("messages(kept): {name}", name=file.name)
    with vault.transaction(subject, Stamp("agent", run=run, tool="keep")) as change:
        change.create(path, content)
    return path


def _written(workspace: Workspace, kept: _Kept, remarks: list[str], cancelled: Cancelled) -> Iterator[str]:
    """The words of a voice message; without them a remark why."""
    if kept.file.kind != "voice":
        return
    settings, vault = workspace.settings.capture, workspace.vault
    if not can_transcribe(settings):
        remarks.append(_said(workspace, "messages.voice_kept", None, path=kept.path))
        return
    try:
        told = transcribe(vault.place.root / kept.path, settings, workspace.clock, cancelled)
    except Retryable as error:
        logger.info("a voice message is not written down: %s", error.message)
        remarks.append(_said(workspace, "messages.voice_failed", error, path=kept.path))
        return
    except (AgentError, OSError) as error:
        remarks.append(_said(workspace, "messages.voice_failed", error, path=kept.path))
        return
    if told:
        yield told
    else:
        remarks.append(_said(workspace, "messages.voice_empty", None, path=kept.path))


def _said(workspace: Workspace, key: str, error: Exception | None, **values: str) -> str:
    language = workspace.settings.vault.language
    why = translated(error.message, language) if isinstance(error, AgentError) else str(error or "")
    return text(key, language, **values, **({"reason": why} if error is not None else {}))
