"""Decodes bytes from the web: by the server's header, else by the page's declaration, else by a guess.

Only the encodings listed here are used, for any page: some of Python's codecs are not text encodings.
"""

import codecs
import re

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_LABELS = {
    **dict.fromkeys(("utf-8", "utf8", "unicode-1-1-utf-8"), "utf-8"),
    **dict.fromkeys(("gb2312", "gbk", "gb18030", "x-gbk", "gb-2312-80", "chinese", "csgb2312"), "gb18030"),
    **dict.fromkeys(("big5", "big5-hkscs", "x-x-big5", "cn-big5", "csbig5"), "big5hkscs"),
    **dict.fromkeys(("iso-8859-1", "latin1", "latin-1", "us-ascii", "ascii", "windows-1252", "cp1252"), "cp1252"),
    **dict.fromkeys(("iso-8859-2", "latin2"), "iso8859-2"),
    **dict.fromkeys(("iso-8859-9", "latin5", "windows-1254"), "cp1254"),
    **dict.fromkeys(("iso-8859-15", "latin-9"), "iso8859-15"),
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis", "x-sjis", "windows-31j"), "cp932"),
    **dict.fromkeys(("euc-kr", "ks_c_5601-1987", "windows-949"), "cp949"),
    **{f"windows-{page}": f"cp{page}" for page in range(1250, 1259) if page not in (1252, 1254)},
    "euc-jp": "euc_jp",
    "iso-2022-jp": "iso2022_jp",
    "koi8-r": "koi8-r",
    "koi8-u": "koi8-u",
    "utf-16": "utf-16-le",
    "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
}
"""Python's names of encodings by their names on the web; wider encodings replace narrower ones, as in browsers."""
ENCODINGS = frozenset({*_LABELS.values(), *(encoding for _, encoding in _BOMS), "cp437"})
"""All that a text may be decoded with; the last is of names in ZIP archives."""

_META = re.compile(rb"<meta[^>]{0,200}?charset\s{0,8}=\s{0,8}[\"']?\s{0,8}([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
_XML = re.compile(rb"^\s{0,8}<\?xml[^>]{0,100}?encoding\s{0,8}=\s{0,8}[\"']([A-Za-z0-9_:.-]{1,40})")
_HEAD = 4096
_SAMPLE = 256 << 10
_CHINESE = re.compile("[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")


def decode(data: bytes, charset: str = "") -> str:
    """The text of `data`; `charset` is the one in the server's header. Invalid bytes become U+FFFD."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    named = _LABELS.get(charset.strip().strip("\"'").lower()) or _in_the_page(data[:_HEAD])
    return data.decode(named or _guess(data), "replace")


def _in_the_page(head: bytes) -> str | None:
    found = _XML.search(head) or _META.search(head)
    encoding = _LABELS.get(found[1].decode("ascii").lower()) if found else None
    # A page whose declaration could be read as ASCII cannot be in UTF-16.
    return "utf-8" if encoding and encoding.startswith("utf-16") else encoding


def _guess(data: bytes) -> str:
    """UTF-8 if the sample is valid, else GB18030 if most non-ASCII characters are then Chinese, else Windows-1252."""
    sample = data[:_SAMPLE]
    if _reads(sample, "utf-8") is not None:
        return "utf-8"
    text = _reads(sample, "gb18030")
    foreign = [sign for sign in text or "" if sign > "\x7f"]
    if foreign and sum(bool(_CHINESE.match(sign)) for sign in foreign) * 2 > len(foreign):
        return "gb18030"
    return "cp1252"


def _reads(sample: bytes, encoding: str) -> str | None:
    """The sample's text, None if it is not in this encoding; a full sample may end inside a character."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(sample, final=len(sample) < _SAMPLE)
    except UnicodeDecodeError:
        return None
