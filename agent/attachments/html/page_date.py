"""The day on which a web page says it was published: from its header, its data for search engines, its first lines or
its address, in this order. A page may say what it likes; the day is shown, and decides nothing."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import date

from agent.dataclass import dataclass

_META = (
    "article:published_time",
    "datepublished",
    "citation_publication_date",
    "citation_date",
    "dc.date.issued",
    "dc.date",
    "dcterms.issued",
    "pubdate",
    "publishdate",
    "publish_date",
    "parsely-pub-date",
    "og:published_time",
    "date",
)
"""Names of a header's fields for the day of publication, the surest first."""
_DATA = re.compile(r'"datePublished"\s{0,8}:\s{0,8}"([^"]{4,40})"')
_ISO = re.compile(r"(?<!\d)((?:19|20)\d\d)[-/.年](\d{1,2})[-/.月](\d{1,2})(?!\d)")
_WORDS = re.compile(
    r"(?<!\w)(?:(?P<d>\d{1,2})(?:st|nd|rd|th)? )?(?P<m>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
    r"(?: (?P<e>\d{1,2})(?:st|nd|rd|th)?)?,? (?P<y>(?:19|20)\d\d)(?!\d)",
    re.IGNORECASE,
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_SAYS = re.compile(r"publish|posted|updated|written|dated?\b|发布|发表|时间|日期|更新|來源|来源", re.IGNORECASE)
_FIRST = 15
"""The blocks of text at the beginning among which a line with a date is looked for."""
_SHORT, _BESIDE = 120, 14
"""The longest line with a date that says what it is, and the most characters beside one that does not."""
_MOST = 20_000
"""Characters of data for search engines that are looked through."""


@dataclass(slots=True)
class PageDates:
    """The dates found in a page's header during parsing."""

    _meta: dict[str, str] = field(default_factory=dict)
    _times: list[str] = field(default_factory=list)
    _data: str = ""
    _is_data: bool = False

    def see(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Take in the beginning of an element."""
        if tag == "meta":
            name = attributes.get("property") or attributes.get("name") or attributes.get("itemprop") or ""
            self._meta.setdefault(name.lower()[:60], attributes.get("content", "")[:60])
        elif tag == "time" and attributes.get("datetime"):
            self._times.append(attributes["datetime"][:60])
        elif attributes.get("itemprop", "").lower() == "datepublished":
            self._meta.setdefault("datepublished", (attributes.get("content") or attributes.get("datetime", ""))[:60])
        if tag == "script":
            self._is_data = "ld+json" in attributes.get("type", "").lower()

    def hear(self, tag: str, text: str) -> None:
        """Take in text that is not shown: the data for search engines."""
        if tag == "script" and self._is_data and len(self._data) < _MOST:
            self._data += text[:_MOST]

    def day(self, address: str, blocks: Sequence[str]) -> str:
        """The day as YYYY-MM-DD; empty if there is none."""
        stated = [self._meta.get(name, "") for name in _META]
        stated += [found[1] for found in _DATA.finditer(self._data[:_MOST])][:1] + self._times[:1]
        lines = [each for each in blocks[:_FIRST] if len(each) <= _SHORT]
        stated += [each for each in lines if _SAYS.search(each)]
        stated += [each for each in lines if _is_byline(each)]
        stated.append(address.replace("_", "/"))
        return next(filter(None, map(day_in, stated)), "")


def _is_byline(line: str) -> bool:
    """True for a line with hardly anything but a date, which is no sentence."""
    rest = _WORDS.sub("", _ISO.sub("", line)).strip(" -–—,，日|·")
    return rest != line.strip() and len(rest) <= _BESIDE and not line.rstrip().endswith((".", "。"))


def day_in(text: str) -> str:
    """The first day in a text as YYYY-MM-DD; empty if there is none."""
    found = _ISO.search(text)
    if found is not None:
        return _day(int(found[1]), int(found[2]), int(found[3]))
    words = _WORDS.search(text)
    if words is None or not (words["d"] or words["e"]):
        return ""
    return _day(int(words["y"]), _MONTHS.index(words["m"].lower()) + 1, int(words["d"] or words["e"]))


def _day(year: int, month: int, day: int) -> str:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return ""
