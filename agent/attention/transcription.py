"""Voice messages as text: by a program of this machine, else by a server that speaks OpenAI's audio wire.

The program gets its arguments as they are, without a shell, and the path of the file; what it prints is the text.
"""

import os
import shlex
import subprocess
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from urllib.parse import urlsplit

from agent.attention.channels.http import ChannelService, checked_url
from agent.clock import Clock
from agent.config.capture_settings import CaptureSettings
from agent.config.secrets import reveal
from agent.errors import Interrupted, UserError
from agent.llm.messages import Cancelled, text
from agent.platform.here import platform

FILE = "{file}"
"""Stands for the file's path in the arguments of the program."""
_LOOK = 0.2
_MOST = 1_000_000
"""Bytes of a text that are read."""
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH")
"""The variables of the environment that the program gets: no key of ours is among them."""


def can_transcribe(settings: CaptureSettings) -> bool:
    """True if voice messages are to be written down."""
    return bool(settings.program.strip() or settings.base_url.strip())


def transcribe(file: Path, settings: CaptureSettings, clock: Clock, cancelled: Cancelled) -> str:
    """The words of a voice message; empty if there are none. Raises `UserError` for a program that fails, what a
    channel's service raises, and `Interrupted`."""
    if settings.program.strip():
        return _by_program(file, settings, clock, cancelled)
    return _by_server(file, settings, clock, cancelled)


def _by_program(file: Path, settings: CaptureSettings, clock: Clock, cancelled: Cancelled) -> str:
    hint = "vault-agent config get capture.program"
    try:
        parts = shlex.split(settings.program)
    except ValueError as error:
        raise UserError("capture.program cannot be read: {reason}", hint=hint, reason=error) from error
    command = [each.replace(FILE, str(file)) for each in parts]
    command += [] if any(FILE in each for each in parts) else [str(file)]
    environment = {name: value for name in _PASSED_ON if (value := os.environ.get(name))}
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
    except OSError as error:
        raise UserError("{program} could not be started", hint=hint, program=command[0]) from error
    try:
        output = _output(process, settings.seconds, clock, cancelled)
    finally:
        if process.poll() is None:
            platform().kill_group(process.pid)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
    if process.returncode:
        raise UserError("{program} ended with {code}", hint=hint, program=command[0], code=process.returncode)
    return output[:_MOST].decode("utf-8", "replace").strip()


def _output(process: "subprocess.Popen[bytes]", seconds: float, clock: Clock, cancelled: Cancelled) -> bytes:
    deadline = clock.monotonic() + seconds
    while True:
        with suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=_LOOK)[0]
        if cancelled():
            raise Interrupted("the call was cancelled")
        if clock.monotonic() >= deadline:
            raise UserError("it took longer than {seconds} s", hint="capture.seconds raises the limit", seconds=seconds)


def _by_server(file: Path, settings: CaptureSettings, clock: Clock, cancelled: Cancelled) -> str:
    key = (reveal(settings.api_key) or "") if settings.api_key.reference else ""
    service = ChannelService("capture.base_url", "capture.api_key", clock, (key,) if key else ())
    base = checked_url(settings.base_url, "capture.base_url").rstrip("/")
    if urlsplit(base).scheme == "http" and (urlsplit(base).hostname or "") not in ("127.0.0.1", "localhost", "::1"):
        raise UserError("capture.base_url has no TLS", hint="set it to an address with https://")
    url, border = f"{base}/audio/transcriptions", token_hex(16)
    body = _form(border, file.name, file.read_bytes(), settings.model)
    headers = {"content-type": f"multipart/form-data; boundary={border}"}
    headers |= {"authorization": f"Bearer {key}"} if key else {}
    answer = service.ask("POST", url, cancelled, headers=headers, body=body, waits=settings.seconds)
    if not answer.is_success:
        raise service.refusal(url, answer)
    if "text" not in answer.document:
        raise service.not_understood(url)
    return text(answer.document.get("text")).strip()


def _form(border: str, name: str, data: bytes, model: str) -> bytes:
    """The form with the file and the name of the model."""
    plain = "".join(sign if sign.isascii() and (sign.isalnum() or sign in " ._-") else "_" for sign in name)
    head = f'--{border}\r\ncontent-disposition: form-data; name="'
    parts = [f'{head}model"\r\n\r\n{model}\r\n', f'{head}response_format"\r\n\r\njson\r\n']
    file = f'{head}file"; filename="{plain}"\r\ncontent-type: application/octet-stream\r\n\r\n'
    return "".join((*parts, file)).encode() + data + f"\r\n--{border}--\r\n".encode()
