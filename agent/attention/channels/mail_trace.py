"""Where in the text of a mail the first trace begins of anything that its writer has not typed now.

Clients quote in more forms than anybody knows. In a reply or a forwarded mail, whatever may begin a quotation is a
trace: a line that begins with a sign that no typed line begins with, a ruled line, a line that names an address or a
time and ends with a colon, two lines such as a header has. In a mail that says it is new, people type lines of these
forms, too: there, only what cannot be typed by chance is one.
"""

import re
import unicodedata
from collections.abc import Sequence

from agent.dataclass import dataclass

_TYPED_SIGNS = frozenset("-*•–—+#([{\"'“”‘’„‚«「『（《【@/~`$€£¥….!?<\\&%¿¡=_")
"""The signs that a line begins with which a person has typed: lists, brackets, quotation marks, names, paths."""
_SIGN_KINDS = frozenset({"Po", "Sm", "Sk", "Pf", "Pe", "Pc", "Pd", "Ps", "Pi", "Co"})
_MARKED = re.compile(r"\s*\w{0,12}\s?[>＞|｜»›❯┃│¦❘≫](?!\S*[)\]])")
"""A mark of quotation, perhaps after the initials of who wrote the line."""
_QUOTED = re.compile(r"\s*[>＞]")
_INDENTED = re.compile(r"(?:\t| {4,}|　)\s*(?![-*•+]|\d+[.)])\S")
_RULE = re.compile(r"\s*[-_=*~—─―＝－#+]{3,}\s*|\s*[-_=*~—─―＝－]{2,}\s?\S.{0,100}?\s?[-_=*~—─―＝－]{2,}\s*")
_SIGNATURE = re.compile(r"--\s?")
_ADDRESS = re.compile(r"[^\s<>@]{1,64}@[^\s<>@]{1,255}")
_ANGLE = re.compile(r"<[^\s<>@]{1,64}@[^\s<>@]{1,255}>|\[mailto:|mailto:")
_TIME = re.compile(r"\d{1,2}\s?[:.：hH時时点시]\s?\d{2}(?!\d)|\d{1,2}\s?(?:uur|uhr|h|時|时|点|시)\b", re.IGNORECASE)
_DATE = re.compile(r"(?<!\d)(?:19|20)\d{2}(?!\d)|\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d+\s?[年月日년월일]")
_HEADER = re.compile(r"[\s*_]{0,4}([^\W\d_][^:：\n\d]{0,30}?)[\s*_]{0,3}(?:：|:(?!\d))[\s*_]*(.*)")
_NAMES = (
    "from sent date to cc subject reply-to von gesendet datum an betreff kopie van verzonden aan onderwerp de envoyé "
    "à objet enviado fecha para asunto da inviato data a oggetto assunto enviada från skickat till ämne fra sendt til "
    "emne lähettäjä lähetetty vastaanottaja aihe od wysłano do temat odesláno komu předmět kimden gönderildi kime konu "
    "от отправлено кому тема дата 发件人 发送时间 收件人 抄送 主题 日期 寄件者 寄件日期 收件者 主旨 差出人 送信日時 "
    "宛先 件名 日付 보낸사람 보낸날짜 받는사람 제목 feladó küldve címzett tárgy"
)
_HEADER_NAMES = frozenset(_NAMES.split())
_MOST_LINE = 400
_MOST_HEADER = 8
"""The most lines of a header within a text."""
_PASSAGE = 3
"""The most lines into which a line about a quotation is broken."""


@dataclass(frozen=True, slots=True)
class TracedLines:
    """The lines of a text. `is_reply`: it answers or passes on a mail. `is_strict`: the mail that it answers is not one
    of ours, so that any line that announces something may announce a quotation."""

    lines: Sequence[str]
    is_reply: bool
    is_strict: bool = False

    def first(self) -> int | None:
        """The number of the first line that is a trace, or belongs to one; None without any."""
        at = next((number for number in range(len(self.lines)) if self._is_trace(number)), None)
        return None if at is None else self._with_announcement(at)

    def is_bare(self, number: int) -> bool:
        """True for a trace without the line that programs put above a quotation: what stands above it may be one, too,
        in a form without marks."""
        line = self.lines[number]
        return not (self._is_frame(number) or _SIGNATURE.fullmatch(line) or _is_dated(line))

    def quoted(self) -> tuple[list[int], list[int]]:
        """The numbers of the lines with a mark of quotation, and of those that only stand around a quotation."""
        marked, frames, header = list[int](), list[int](), 0
        for number, line in enumerate(self.lines):
            header = _MOST_HEADER if self._is_header(number) else header - 1
            is_in_header = header > 0 and _HEADER.match(line) is not None
            if _MARKED.match(line):
                marked.append(number)
            elif is_in_header or self._is_frame(number):
                frames.append(number)
            header = header if is_in_header or not line.strip() else 0
        return marked, frames

    def _is_trace(self, number: int) -> bool:
        line = self.lines[number]
        if _SIGNATURE.fullmatch(line) or self._is_header(number) or self._announces(number):
            return True
        if not self.is_reply:
            return self._is_plainly_quoted(number)
        return self._is_frame(number) or _MARKED.match(line) is not None or _is_foreign_line(line)

    def _is_frame(self, number: int) -> bool:
        """True for a ruled line, and for one that announces a quotation."""
        return _RULE.fullmatch(self.lines[number]) is not None or self._announces(number) or self._is_header(number)

    def _is_plainly_quoted(self, number: int) -> bool:
        """True in a new mail where marked lines follow each other, or a ruled line has a header below it."""
        following = self._following(number)
        if _QUOTED.match(self.lines[number]):
            return bool(following) and _QUOTED.match(self.lines[following[0]]) is not None
        line = self.lines[number]
        if _RULE.fullmatch(line) is None:
            return False
        named = [self.lines[each] for each in following[:3] if _names_header(self.lines[each])]
        return any(map(_ADDRESS.search, named)) or (bool(named) and any(map(str.isalpha, line)))

    def _announces(self, number: int) -> bool:
        """True for the line above a quotation ("On …, … wrote:"), which may be broken into a few."""
        rows = [" ".join(self.lines[number : number + count]) for count in range(1, _PASSAGE + 1)]
        first = rows[0]
        for count, row in enumerate(rows, 1):
            is_end = row.rstrip(" *_").endswith((":", "：")) and len(row) <= _MOST_LINE
            if not is_end or (count > 1 and (not _is_dated(first) or first.rstrip().endswith((".", "!", "?", "。")))):
                continue
            following = self._following(number + count - 1)
            is_marked = bool(following) and _MARKED.match(self.lines[following[0]]) is not None
            if not self.is_reply:
                return is_marked and _is_dated(row)
            if self.is_strict or is_marked or _is_dated(row):
                return True
        return False

    def _is_header(self, number: int) -> bool:
        """True where the lines of a mail's header begin: a sender and a time among lines with names."""
        if _HEADER.match(self.lines[number]) is None:
            return False
        block = [self.lines[number]]
        for each in self._following(number):
            if _HEADER.match(self.lines[each]) is None or len(block) == _MOST_HEADER:
                break
            block.append(self.lines[each])
        if self.is_reply:
            return _ADDRESS.search(block[0]) is not None or (len(block) > 1 and any(map(_is_dated, block)))
        if len(block) < 3 or not any(map(_is_dated_only, block)):
            return False
        return any(map(_ANGLE.search, block)) or sum(map(_names_header, block)) >= 3

    def _following(self, number: int) -> list[int]:
        """The numbers of the next few lines with words."""
        found = (each for each in range(number + 1, min(number + 30, len(self.lines))) if self.lines[each].strip())
        return [each for _, each in zip(range(8), found, strict=False)]

    def _with_announcement(self, at: int) -> int:
        """The line itself, or the first of those above it that say whose words follow."""
        if not self.is_reply or _SIGNATURE.fullmatch(self.lines[at]):
            return at
        above = at - 1
        while above >= 0 and at - above <= 2 and not self.lines[above].strip():
            above -= 1
        first = at
        for number in range(above, max(above - _PASSAGE, -1), -1):
            line = self.lines[number]
            if not line.strip() or not (_is_dated(line) or line.rstrip().endswith((":", "："))):
                break
            first = number
        return first


def _is_dated(text: str) -> bool:
    """True for a text that names an address or a time."""
    return _ADDRESS.search(text) is not None or _is_dated_only(text)


def _names_header(line: str) -> bool:
    """True for a line with the name of a header that says whose mail it is, in one of many languages."""
    found = _HEADER.match(line)
    return found is not None and found[1].strip().casefold().replace(" ", "") in _HEADER_NAMES


def _is_dated_only(text: str) -> bool:
    return _DATE.search(text) is not None or _TIME.search(text) is not None


def _is_foreign_line(line: str) -> bool:
    """True for a line that is indented, or begins with a sign that no typed line begins with."""
    if _INDENTED.match(line):
        return True
    first = line.lstrip()[:1]
    is_sign = bool(first) and unicodedata.category(first) in _SIGN_KINDS
    return is_sign and first not in _TYPED_SIGNS and not line.lstrip()[:2].endswith((")", "(", "D", "P"))
