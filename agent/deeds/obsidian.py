"""The companion plugin for Obsidian: its three files, laid into a vault in one commit, or packed as a zip."""

import json
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from agent.dataclass import dataclass
from agent.deeds.result import ResultValue
from agent.errors import Retryable, UserError
from agent.texts import Sentence
from agent.vault.change import Stamp
from agent.workspace.workspace import Workspace

NAME = "vault-agent"
FOLDER = f".obsidian/plugins/{NAME}"
_OBSIDIAN = ".obsidian"
_FILES = ("main.js", "manifest.json", "styles.css")
_SOURCE = Path(__file__).parents[1] / "integrations" / "obsidian"


class PluginInstalled(ResultValue, frozen=True):
    """The files that were written, in one commit (null where nothing had to change, and where git ignores the folder)
    and the plugin's version."""

    files: list[str]
    commit: str | None
    version: str


@dataclass(frozen=True, slots=True)
class PluginLook:
    """What an installation would do: the `files` that would be written, `former` the version that is there (empty:
    none)."""

    files: dict[str, bytes]
    version: str
    former: str


def look_at_plugin(workspace: Workspace) -> PluginLook:
    """What an installation would do. Raises `UserError` where the vault is none of Obsidian's, and `BadPath` where the
    folder is a link."""
    vault = workspace.vault
    if not (vault.place.root / _OBSIDIAN).is_dir():
        raise UserError(
            "{root} has no folder .obsidian: Obsidian has not opened it yet",
            hint="open the folder as a vault in Obsidian first",
            root=vault.place.root,
        )
    wanted = {f"{FOLDER}/{name}": (_SOURCE / name).read_bytes() for name in _FILES}
    there = {path: vault.read(path) for path in wanted}
    former = _version(there[f"{FOLDER}/manifest.json"])
    changed = {path: data for path, data in wanted.items() if there[path] != data}
    return PluginLook(changed, _version(wanted[f"{FOLDER}/manifest.json"]), former)


def install_plugin(workspace: Workspace, found: PluginLook) -> PluginInstalled:
    """Write the files of the plugin. Raises `Retryable` while they cannot be written."""
    vault = workspace.vault
    if not found.files:
        return PluginInstalled([], None, found.version)
    subject = Sentence("obsidian(plugin): laid version {version}", version=found.version)
    with vault.transaction(subject, Stamp("agent", tool="obsidian install"), system=True) as transaction:
        for path, data in found.files.items():
            before = vault.read(path)
            if before is None:
                transaction.create(path, data)
            else:
                transaction.edit(path, before, data)
    outcome = transaction.outcome
    if outcome.queued:
        queued = Sentence(outcome.queued)
        raise Retryable("the plugin is not laid yet: {queued}", hint="repeat the command", queued=queued)
    return PluginInstalled(sorted(found.files), outcome.commit, found.version)


def plugin_zip() -> bytes:
    """The plugin as a zip, equal each time: a folder of its name that goes below `.obsidian/plugins`."""
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as file:
        for name in _FILES:
            file.writestr(ZipInfo(f"{NAME}/{name}"), (_SOURCE / name).read_bytes(), ZIP_DEFLATED)
    return packed.getvalue()


def _version(manifest: bytes | None) -> str:
    try:
        found = json.loads(manifest or b"{}")
    except ValueError:
        return ""
    return str(found.get("version", "")) if isinstance(found, dict) else ""
