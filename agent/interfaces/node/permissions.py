"""What the system lets the host do on this machine, and what a person can do about it.

Linux asks nobody for such permissions: what counts there is whether the screen, the microphone and the keyboard can be
reached from this session. On macOS the system is asked, where it answers without a dialogue.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.interfaces.node.folders import Folders
from agent.interfaces.node.session import session_kind
from agent.platform.here import platform
from agent.texts import Sentence

PermissionState: TypeAlias = Literal["unknown", "granted", "denied", "restricted"]
"""`restricted`: this machine or session does not have the thing, whatever anybody allows."""
NAMES = ("screen_recording", "microphone", "accessibility", "full_disk_access")
_NO_SCREEN = Sentence("This session has no screen: start vault-agent node in a terminal of the desktop.")


@dataclass(frozen=True, slots=True)
class NodePermission:
    """The state of a permission; `guidance` is empty if nothing has to be done."""

    state: PermissionState
    guidance: Sentence = Sentence("")


def permissions(folders: Folders, environ: Mapping[str, str] = os.environ) -> dict[str, NodePermission]:
    """The state of every permission now, by name, in the order of `NAMES`."""
    checks: dict[str, Callable[[], NodePermission]]
    if session_kind(environ) == "mac":
        checks = {"screen_recording": _mac_screen, "microphone": _mac_microphone, "accessibility": _mac_control}
    else:
        checks = {
            "screen_recording": lambda: _screen(environ),
            "microphone": lambda: _microphone(environ),
            "accessibility": lambda: _control(environ),
        }
    checks["full_disk_access"] = lambda: _disk(folders)
    return {name: checks[name]() for name in NAMES}


def _screen(environ: Mapping[str, str]) -> NodePermission:
    return NodePermission("restricted", _NO_SCREEN) if session_kind(environ) == "none" else NodePermission("granted")


def _microphone(environ: Mapping[str, str]) -> NodePermission:
    runtime = Path(environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}")
    if any((runtime / name).exists() for name in ("pipewire-0", "pulse/native")):
        return NodePermission("granted")
    devices = list(Path("/dev/snd").glob("pcmC*c"))
    if not devices:
        return NodePermission("restricted", Sentence("No microphone was found. Connect one, and try again."))
    if any(os.access(each, os.R_OK) for each in devices):
        return NodePermission("granted")
    joins = Sentence("Let your account record sound: sudo usermod -aG audio $USER, then log in again.")
    return NodePermission("denied", joins)


def _control(environ: Mapping[str, str]) -> NodePermission:
    kind = session_kind(environ)
    if kind == "none":
        return NodePermission("restricted", _NO_SCREEN)
    if kind == "x" or os.access("/dev/uinput", os.W_OK):
        return NodePermission("granted")
    starts = Sentence("Wayland lets no program press keys by itself. Let ydotool do it: start ydotoold as root.")
    return NodePermission("denied", starts)


def _disk(folders: Folders) -> NodePermission:
    if not folders.roots:
        return NodePermission(
            "restricted", Sentence("No folder is open. Open some: vault-agent config set node.folders ~/FOLDER")
        )
    shut = [str(root.written) for root in folders.roots if not os.access(root.real, os.R_OK | os.X_OK)]
    if not shut:
        return NodePermission("granted")
    return NodePermission(
        "denied" if len(shut) == len(folders.roots) else "granted",
        Sentence(
            "{folder} cannot be read. On macOS: System Settings, Privacy & Security, Full Disk Access.", folder=shut[0]
        ),
    )


def _answered(answer: bool | None, guidance: Sentence) -> NodePermission:
    if answer is None:
        return NodePermission("unknown", guidance)
    return NodePermission("granted") if answer else NodePermission("denied", guidance)


def _mac_screen() -> NodePermission:
    allows = Sentence("Allow it in System Settings, Privacy & Security, Screen Recording, then start the host again.")
    return _answered(platform().asks("CoreGraphics", "CGPreflightScreenCaptureAccess"), allows)


def _mac_control() -> NodePermission:
    allows = Sentence("Allow it in System Settings, Privacy & Security, Accessibility, then start the host again.")
    return _answered(platform().asks("ApplicationServices", "AXIsProcessTrusted"), allows)


def _mac_microphone() -> NodePermission:
    return NodePermission(
        "unknown",
        Sentence("macOS asks at the first recording. Later: System Settings, Privacy & Security, Microphone."),
    )
