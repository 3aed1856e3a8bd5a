"""The files of a message: kept in the vault in one commit, and voice messages written down, before a run begins.

What the owner has said themselves counts as their words; what they pass on is somebody else's. A voice decides nothing:
a program may have misheard it.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace

from agent.attention.channels.channel import FileSource, Incoming, SentFile
from agent.attention.transcription import can_transcribe, transcribe
from agent.dataclass import dataclass
from agent.errors import AgentError, Interrupted, Permanent, Retryable, UserError
from agent.llm.messages import Cancelled
from agent.runs.captured_files import CapturedFile, keep_files
from agent.texts import Sentence, text, translated
from agent.workspace.workspace import Workspace

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TakenFiles:
    """A message whose files are kept: `message` has them in its words, as links, with what was said in them. `remarks`
    are for the person: what is kept and was not written down, or was not kept, and why."""

    message: Incoming
    remarks: tuple[str, ...] = ()


def take_files(
    workspace: Workspace,
    channel: str,
    source: FileSource,
    message: Incoming,
    cancelled: Cancelled,
    save: Callable[[Incoming], None],
) -> TakenFiles:
    """Fetch the files of a message, keep them, and write voice messages down; `save` is given the message each time one
    more of its files is kept. Raises `Retryable` for a service that may answer later, `Interrupted`, and what a
    transaction raises."""
    remarks, files = list[str](), list(message.files)
    for number, file in enumerate(files):
        if file.kept:
            continue
        try:
            files[number] = replace(file, kept=_keep(workspace, channel, source, file, cancelled))
        except Retryable:
            raise
        except (UserError, Permanent) as error:
            remarks.append(_remark(workspace, "messages.file_refused", error, name=file.name))
            continue
        save(replace(message, files=tuple(files)))
    own, others = [message.text], [message.foreign]
    for each in filter(lambda file: file.kept, files):
        block = "\n\n".join(filter(None, (f"![[{each.kept}]]", *_written(workspace, each, remarks, cancelled))))
        (own if each.is_own else others).append(block)
    words = (own, others)
    own_words, foreign = ("\n\n".join(filter(None, (part.strip() for part in each))) for each in words)
    return TakenFiles(replace(message, text=own_words, foreign=foreign, files=()), tuple(remarks))


def _keep(workspace: Workspace, channel: str, source: FileSource, file: SentFile, cancelled: Cancelled) -> str:
    """Keep one file; its path."""
    most = int(workspace.settings.capture.largest_megabytes * 1_000_000)
    data = source.fetch(file, most, cancelled)
    subject = Sentence("messages(kept): {name}", name=file.name)
    return keep_files(workspace, [CapturedFile(file.name, data)], channel, subject)[0]


def _written(workspace: Workspace, file: SentFile, remarks: list[str], cancelled: Cancelled) -> Iterator[str]:
    """The words of a voice message; without them a remark why."""
    if file.kind != "voice":
        return
    settings, vault = workspace.settings.capture, workspace.vault
    if not can_transcribe(settings):
        remarks.append(_remark(workspace, "messages.voice_kept", None, path=file.kept))
        return
    try:
        transcript = transcribe(vault.place.root / file.kept, settings, workspace.clock, cancelled)
    except Interrupted:
        raise
    except (AgentError, OSError) as error:
        logger.info("a voice message is not written down: %s", error)
        remarks.append(_remark(workspace, "messages.voice_failed", error, path=file.kept))
        return
    if transcript:
        yield transcript
    else:
        remarks.append(_remark(workspace, "messages.voice_empty", None, path=file.kept))


def _remark(workspace: Workspace, key: str, error: Exception | None, **values: str) -> str:
    language = workspace.settings.vault.language
    why = translated(error.message, language) if isinstance(error, AgentError) else str(error or "")
    return text(key, language, **values, **({"reason": why} if error is not None else {}))
