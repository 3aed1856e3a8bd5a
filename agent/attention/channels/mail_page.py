"""The text of a mail that is a web page, and where in it something begins that its writer has not typed.

Mail programs put what they quote into elements of their own. The forms are many, so the list is one of the good: the
plain elements and the classes that programs give to typed text. Anything else may begin a quotation (`doubt`);
elements that are only made for quotations do (`quote`).
"""

import re
from collections.abc import Mapping
from contextlib import suppress

from agent.dataclass import dataclass

_MOST = 400_000
_DEEPEST = 200
"""The elements within each other that are read: lxml takes quadratic time for many more."""
_LINES = "p div br li tr h1 h2 h3 h4 h5 h6 blockquote pre ul ol table hr dl dt dd section article"
_BLOCKS = frozenset(_LINES.split())
_UNSEEN = frozenset({"script", "style", "head", "title", "template", "noscript"})
_ELEMENTS = (
    "html body div p br span b strong i em u s strike del ins small big sub sup font center a ul ol li code pre tt kbd "
    "h1 h2 h3 h4 h5 h6 img wbr meta link o:p table tbody thead tr td th head title style script"
)
_TYPED = frozenset(_ELEMENTS.split())
"""The elements of which typed text is made."""
_TYPED_NAMES = re.compile(
    r"mso\w*|wordsection\d*|gmail_default|gmail-?\w*default|elementtoproof|apple-\w[\w-]*|x_?\w*mso\w*|moz-signature"
    r"|signature|gmail_signature\w*|divtagdefaultwrapper|ltr|rtl|default-style|paragraph|content"
    r"|ms-outlook-\w[\w-]*|proton\w*-signature\w*|auto",
    re.IGNORECASE,
)
"""The classes and ids that mail programs give to typed text and to signatures."""
_QUOTE_NAMES = re.compile(r"quot|cite|forward|divrplyfwdmsg|appendonsend|olk_src|replymsg|original", re.IGNORECASE)
_LINE = re.compile(
    r"border(?:-(?:top|left|right|bottom|style|width|color))?\s*:(?!\s*(?:none|0|unset|medium none))", re.I
)


@dataclass(frozen=True, slots=True)
class PageText:
    """The text of a page. `quote` and `doubt` are the places where a quotation begins, and where one may begin; the end
    of the text if nowhere."""

    text: str
    quote: int
    doubt: int


class _Reader:
    """Takes the elements of a page as lxml meets them."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.length = self.depth = 0
        self.quote: int | None = None
        self.doubt: int | None = None
        self._unseen = 0
        self._is_in_line = self._has_text = False
        self._frame: int | None = None
        self._frame_depth = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise ValueError("a page nested too deeply")
        self._unseen += tag in _UNSEEN
        if tag == "br" or (tag in _BLOCKS and self._is_in_line):
            self._put("\n")
        self._look(tag, attributes)

    def end(self, tag: str) -> None:
        if self._frame is not None and self.depth == self._frame_depth:
            self._frame_depth = 0  # what follows is not in it
        self.depth -= 1
        self._unseen -= tag in _UNSEEN
        if tag in _BLOCKS and self._is_in_line:
            self._put("\n")

    def data(self, text: str) -> None:
        if self._unseen:
            return
        if self._frame is not None and not self._frame_depth and not text.isspace():
            self.doubt = self._frame if self.doubt is None else min(self.doubt, self._frame)
        self._has_text = self._has_text or not text.isspace()
        self._put(text.replace("\r", "").replace("\n", " "))

    def comment(self, text: str) -> None:
        """Nothing: nobody sees it."""

    def close(self) -> None:
        """Nothing: what was read is kept as it comes."""

    def _put(self, text: str) -> None:
        self.parts.append(text)
        self.length += len(text)
        self._is_in_line = text != "\n" and (self._is_in_line or bool(text.strip(" \t\n")))

    def _look(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Note a place where something begins that was not typed. An element that is around all there is only has a
        name that is not known: it is a program's frame."""
        names = [*attributes.get("class", "").split(), *filter(None, [attributes.get("id", "")])]
        is_quote = "cite" in attributes or attributes.get("type") == "cite" or any(map(_QUOTE_NAMES.search, names))
        if is_quote and self.quote is None:
            self.quote = self.length
        is_drawn = tag not in _TYPED or _LINE.search(attributes.get("style", "")[:2_000].lower()) is not None
        is_named = not all(map(_TYPED_NAMES.fullmatch, names))
        if is_named and not (is_quote or is_drawn or self._has_text):
            if self._frame is None:
                self._frame, self._frame_depth = self.length, self.depth
        elif (is_quote or is_drawn or is_named) and self.doubt is None:
            self.doubt = self.length


def read_mail_page(page: str) -> PageText:
    """The text of a page, a line for each block, without what is not shown."""
    from lxml import etree

    reader = _Reader()
    parser = etree.HTMLParser(target=reader, recover=True)  # type: ignore[arg-type]  # the stubs require bytes
    with suppress(etree.XMLSyntaxError):
        parser.feed(page[:_MOST].replace("\0", "\ufffd"))
        parser.close()
    return _tidied("".join(reader.parts), reader)


def _tidied(text: str, reader: _Reader) -> PageText:
    """The text with single spaces and at most one empty line, and the places as they are in it."""
    cuts = sorted({at for at in (reader.quote, reader.doubt) if at is not None})
    tidy, places = "", dict[int, int]()
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        places[start] = len(tidy)
        lines = (" ".join(line.split()) for line in text[start:end].split("\n"))
        tidy += re.sub(r"\n{3,}", "\n\n", "\n".join(lines))
    at_quote = len(tidy) if reader.quote is None else places[reader.quote]
    at_doubt = len(tidy) if reader.doubt is None else places[reader.doubt]
    return PageText(tidy, at_quote, min(at_doubt, at_quote))
