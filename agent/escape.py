r"""Escapes for untrusted text, to display it safely: active and invisible characters become visible escapes.

Escaped: control characters (a terminal executes them), characters that change the direction of a line, and invisible
characters; for example, Escape becomes `\x1b`. Kept: line feed, tab, every letter, mark and sign of every script, and
the invisible joiners and selectors where a script or an emoji needs them, one at a time.

Pure text. `interfaces/cli/printing` escapes printed text; other callers escape untrusted text written into notes.
"""

import re
from collections.abc import Callable
from functools import cache

from agent.dataclass import dataclass

_EMOJI = "#*0-9\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d"
_EMOJI += "\u3297\u3299\U0001f000-\U0001faff"
_PICTURE = _EMOJI.removeprefix("#*0-9")
_JOINED = "\u0620-\u06dc\u06de-\u06ff\u0710-\u088f\u0892-\u08e1\u08e3-\u0dff\u1000-\u109f\u1780-\u17b3\u17b6-\u17ff"
_JOINED += "\u1820-\u18aa\ufb50-\ufdcf\ufe70-\ufefc"
"""Scripts with joined and unjoined letter forms: Arabic, Syriac, N'Ko, the Indic ones, Burmese, Khmer, Mongolian."""
_IDEOGRAPH = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_MONGOLIAN = "\u1820-\u18aa"


def _tags(word: str) -> str:
    return "".join(chr(0xE0000 + ord(letter)) for letter in word)


_FLAG = f"\U0001f3f4(?:{'|'.join(map(_tags, ('gbeng', 'gbsct', 'gbwls')))})\U000e007f"
"""England, Scotland and Wales: the only emoji that are made of tag characters."""
_ALWAYS = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff\ud800-\udfff"
)
_SUSPECT = re.compile(f"[{_ALWAYS}\u180b-\u180f\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""A fast first check: most texts have none of these characters."""
_UNSAFE = (
    rf"(?P<kept>{_FLAG})"
    rf"|[{_ALWAYS}]"
    rf"|(?<![{_JOINED}])\u200c"
    rf"|(?<![{_JOINED}])(?<![{_PICTURE}])(?<![{_PICTURE}]\ufe0f)\u200d"
    rf"|(?<![{_JOINED}])\u200d(?![{_PICTURE}])"
    rf"|(?<![{_EMOJI}])[\ufe0e\ufe0f]"
    rf"|(?<=[#*0-9])\ufe0e|(?<=[#*0-9])\ufe0f(?!\u20e3)"
    rf"|(?<![{_IDEOGRAPH}])[\ufe00-\ufe02\U000e0100-\U000e01ef]"
    rf"|[\ufe03-\ufe0d]"
    rf"|(?<![{_MONGOLIAN}])[\u180b-\u180f]"
)
"""Ranges from Unicode 15: Default_Ignorable_Code_Point and the categories Cc, Cf, Cs, Zl and Zp."""
_UNDECIDED = re.compile("[\r\u200c\u200d\ufe00-\ufe0f\U000e0000-\U000e0fff]+\\Z")
"""At the end of a piece, the next characters decide if these are kept."""
_LONGEST, _FLAG_LENGTH = 64, 8
_CONTROL = re.compile("(?!\r\n)[\x00-\x08\x0b-\x1f\x7f-\x9f\udc80-\udc9f]")
"""Control characters, and single bytes that are some in an encoding that is not UTF-8."""
_ESCAPE = re.compile(r"\\(?:\\|x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))")
_CRLF = "\r\n"


@cache
def _unsafe() -> re.Pattern[str]:
    """The pattern of `_UNSAFE`, compiled on first use because compiling is slow."""
    return re.compile(_UNSAFE)


def _each(text: str, write: Callable[[re.Match[str]], str]) -> str:
    return _unsafe().sub(write, text) if _SUSPECT.search(text) else text


def escape(text: str) -> str:
    r"""The text with every active or invisible character written as `\xNN`, `\uNNNN` or `\UNNNNNNNN`.

    A Windows line end becomes a line feed. Escaping twice has no further effect.
    """
    return _each(text.replace(_CRLF, "\n"), _written)


def escape_line(text: str) -> str:
    """The same for text that must stay on one line, such as a name: line feeds are escaped too."""
    return escape(text.replace("\n", "\\x0a"))


def escape_controls(data: bytes) -> bytes:
    """A file's content with only its control characters escaped: line ends, tabs and all other bytes stay."""
    text = data.decode("utf-8", "surrogateescape")
    if not _CONTROL.search(text):
        return data
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]) & 0xFF:02x}", text).encode("utf-8", "surrogateescape")


def escape_json(document: str) -> str:
    """An equal JSON document, with JSON's own escapes for every active or invisible character."""
    return _each(document, _written_in_json)


def is_inert(text: str) -> bool:
    """True if the text has no active or invisible characters."""
    flat = text.replace(_CRLF, "\n")
    return not _SUSPECT.search(flat) or all(found.lastgroup == "kept" for found in _unsafe().finditer(flat))


def encode(text: str) -> str:
    """The text escaped so that `decode` restores it exactly: backslashes are doubled, Windows line ends stay."""
    return _CRLF.join(_each(line, _written) for line in text.replace("\\", "\\\\").split(_CRLF))


def decode(text: str) -> str:
    """The original text of a text from `encode`."""
    return _ESCAPE.sub(_read, text)


@dataclass(slots=True)
class Escaper:
    """Escapes text that arrives in pieces, cut anywhere: the joined results equal `escape` of the whole text."""

    _last_output: str = ""
    """The last characters of the output, unescaped: the next characters may depend on them."""
    _held: str = ""

    def feed(self, piece: str) -> str:
        """The next text to show; a few last characters may wait for the next piece."""
        text = self._held + piece
        open_end = _UNDECIDED.search(text)
        cut = open_end.start() if open_end else len(text)
        if len(text) - cut > _LONGEST:
            cut = len(text) - _FLAG_LENGTH
        return self._give(text[:cut], text[cut:])

    def end(self) -> str:
        """The waiting characters; the next piece begins a new text."""
        text = self._give(self._held, "")
        self._last_output = ""
        return text

    def _give(self, text: str, held: str) -> str:
        before = self._last_output
        whole = before + text.replace(_CRLF, "\n")
        self._held, self._last_output = held, whole[-2:]
        if not _SUSPECT.search(whole):
            return whole[len(before) :]
        pieces, position = [], len(before)
        for found in _unsafe().finditer(whole, max(len(before) - 1, 0)):
            if found.start() >= len(before) or found.lastgroup == "kept":
                pieces.append(whole[position : max(found.start(), position)])
                pieces.append(_written(found)[max(position - found.start(), 0) :])
                position = found.end()
        return "".join([*pieces, whole[position:]])


def _written(found: re.Match[str]) -> str:
    if found.lastgroup == "kept":
        return found[0]
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _written_in_json(found: re.Match[str]) -> str:
    if found.lastgroup == "kept":
        return found[0]
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _read(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    return chr(int(code, 16)) if code and int(code, 16) < 0x110000 else "\\" if not code else found[0]
