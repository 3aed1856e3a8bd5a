"""The settings of what is kept from anywhere: captures, and the files of messages. Part of `settings.Settings`."""

from typing import Annotated

from agent.config.secrets import Secret
from agent.config.values import Range
from agent.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class CaptureSettings:
    """What is kept from anywhere, and how voice messages are written down. Only a machine's own settings have these."""

    largest_megabytes: Annotated[float, Range(0, 200, "megabytes")]
    """The largest file that is kept, of a capture or a message, in megabytes. Default 20: what a bot of Telegram may
    fetch at most; 0 keeps none."""

    program: str
    """The program that writes voice messages down, with its arguments, as on a command line: `whisper-cli -f {file}`.
    It is started without a shell, gets the file's path in place of `{file}` (else behind the last argument), and what
    it prints is the text. Default empty: voice messages are kept, and not written down."""

    base_url: str
    """The address of a server that writes voice messages down, as OpenAI's does: `/audio/transcriptions` is added.
    Default empty. The program comes first, as it sends nothing away."""

    model: str
    """The model of that server. Default `whisper-1`."""

    api_key: Secret
    """The key of that server, or a reference to it, such as `env:OPENAI_API_KEY`. Default empty."""

    seconds: Annotated[float, Range(1, 3_600, "seconds")]
    """The longest time for one voice message, in seconds. Default 120."""
