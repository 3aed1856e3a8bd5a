"""Which parts of a web page are its own text: not its menus, cookie banners, links to other pages and buttons.

An element is marked by its tag, or by words in its class and id. A mark that would take away most of the page does not
count: such a class is on a wrapper. Where no part is marked as the main one, it is the container of most sentences.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from agent.dataclass import dataclass

MAIN, SIDE, JUNK, GUTTER = "main", "side", "junk", "gutter"
"""The marks of a part: the page's own text; menus and the like, shown if there is nothing else; never its text, unless
it is code; the numbers beside code."""

_MAIN_TAGS = frozenset(("main", "article"))
_SIDE_TAGS = frozenset(("nav", "footer", "aside", "header", "form", "menu", "dialog"))
BLOCKS = (
    _MAIN_TAGS
    | _SIDE_TAGS
    | frozenset(
        {"p", "div", "section", "ul", "ol", "dl", "dt", "dd", "table", "tbody", "thead", "tfoot", "caption"}
        | {"figure", "figcaption", "address", "details", "summary", "fieldset", "hr", "body", "center"}
    )
)
"""The elements that begin a line of their own."""
_WHOLE = frozenset(("html", "body", "main", "article", "h1", "h2", "h3", "p", "pre", "code", "table", "td", "tr"))
"""Elements whose classes say nothing about their part."""

_NAME = re.compile(r"[^\s]{1,60}")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_MAIN_NAME = re.compile(
    r"(?:article|post|entry|story|news|page|main|blog|doc|text|rich[-_]?media|mw-parser)[-_]?"
    r"(?:content|body|text|main|article|output|detail)s?(?:[-_](?:inner|wrap|area))?"
    r"|markdown-body|articlebody|main-?content|trs_?editor|art_?con(?:tent)?|content-?article|article|post|prose",
)
_JUNK_NAME = re.compile(
    r"(?:.*[-_])?(?:cookies?|consent|gdpr|onetrust|cmp|adverts?|advertisements?|adsbygoogle|ads?|sponsor(?:ed|s)?"
    r"|promos?|related\w{0,8}|recommend(?:ed|ations?|s)?|read-?(?:next|more)|more-?(?:from|stories)|also-?like|share\w{0,8}"
    r"|sharing|bdshare\w*|social|newsletter|subscribe|breadcrumbs?|crumbs?|pagination|pager|prev-?next|post-?nav"
    r"|toolbar|popup|modal|overlay|paywall|login|signup|tags?-?(?:list|cloud|links)|post-?tags|comments?|disqus|toc"
    r"|table-of-contents|navbox|editsection|catlinks|jump-?to(?:-\w+)?|skip-?(?:link|nav|to-content)|back-?to-?top"
    r"|qrcode|copyright|ratings?|widget|side-?bar|nav|navbar|navigation|menu|footer|header-?link|anchor-?link|permalink"
    r"|author-?(?:box|bio|card)|tools?)"
    r"(?:[-_](?:list|box|banner|bar|links?|items?|section|wrap(?:per)?|container|inner|block|area|posts?|articles?"
    r"|stories|news|content|stars|widget|icons?|buttons?|popup|notice|overlay|dialog|modal|module|form|trail|area))*"
)
_NOT_JUNK = re.compile(r"(?:^|[-_])(?:with|has|no|without|is|not|open|enabled|code)[-_]")
_GUTTER_NAME = re.compile(r"(?:.*[-_])?(?:linenos?|linenodiv|line-?numbers(?:-rows)?|gutter|blob-num)")
_HEAD_NAME = re.compile(
    r"(?:(?:site|page|global|main|app|top)[-_]?)?header(?:[-_](?:wrap(?:per)?|inner|bar|container|top|main|area))?"
    r"|masthead|top-?(?:bar|nav|header|links)?"
)
_HIDDEN_NAME = re.compile(r"visually-?hidden|sr-?only|screen-?reader-?(?:text|only)|a11y-?hidden|noprint|print-?only")
_ROLES = {"navigation": SIDE, "banner": SIDE, "contentinfo": SIDE, "complementary": SIDE, "search": SIDE, "main": MAIN,
          "dialog": JUNK, "alertdialog": JUNK}  # fmt: skip

_ENOUGH = 250
"""The least characters for which the part marked as main is used alone."""
_MOST_OF_IT = 0.6
"""The share of the text of a page from which on a mark does not count."""
_SENTENCE = re.compile(r"[.!?。！？；，,]")
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")
_RELATED = re.compile(
    r"#{0,6}\s*\**(?:related (?:articles?|posts?|stories|links?|reading|topics|content|pages?|news)|you (?:may|might) "
    r"also (?:like|enjoy|be interested in)|recommended(?: for you| reading| articles| stories)?|read (?:next|more|also)"
    r"|more (?:from|stories|news|like this|on this)\b.{0,40}|(?:most|also) (?:read|popular)|popular (?:posts|articles)"
    r"|trending(?: now)?|latest (?:posts|news|articles)|up next|further stories|see more"
    r"|相关(?:阅读|文章|推荐|新闻|链接|内容|资讯|专题|帖子)|推荐(?:阅读|文章|新闻)|猜你喜欢|热门(?:文章|推荐|阅读|新闻)"
    r"|延伸阅读|最新(?:文章|资讯)|更多(?:文章|精彩|内容|新闻)|大家都在看|精彩推荐|為您推薦|相關(?:閱讀|文章))\**[:：]?",
    re.IGNORECASE,
)
_COOKIE = re.compile(r"cookie|本网站使用|gdpr", re.IGNORECASE)
_CONSENT = re.compile(
    r"accept|agree|consent|preferences|settings|we use|this (?:web)?site uses|同意|接受|使用", re.IGNORECASE
)
_CRUMB = re.compile(
    r"(?:share(?: this| on| via)?\b.{0,60}|follow us\b.{0,60}|sign up\b.{0,60}|subscribe\b.{0,60}|advertisement|ad"
    r"|skip to (?:main )?content|back to top|print(?: this page)?"
    r"|(?:tags?|filed under|posted in|categories)[:：].{0,80}"
    r"|leave a (?:comment|reply)|\d{0,5} ?comments?|copy(?: link| code)?|edit(?: this page)?"
    r"|jump to \w+(?: \w+)?|previous|next"
    r"|(?:previous|next)(?: article| post| page)?[:：].{0,80}|all rights reserved.{0,60}|(?:©|copyright).{0,100}"
    r"|(?:上一[篇页章]|下一[篇页章])[:：]?.{0,80}|(?:责任编辑|编辑|责编|校对|审核)[:：].{0,20}|分享(?:到|至)?[:：]?.{0,30}"
    r"|\[?编辑\]?|(?:微信|手机)?扫一扫.{0,40}|版权(?:声明|所有).{0,120}|(?:【[^】]{0,12}】)+|打印本页.{0,20}|关闭窗口|返回顶部|字号[:：]?.{0,20}|收藏|点赞.{0,10}|举报|阅读原文.{0,20}"
    r"|(?:标签|分类)[:：].{0,60}|您(?:的|当前)(?:当前)?位置[:：].{0,80}|首页\s*[>›»].{0,80}|点击(?:查看|关注).{0,30})",
    re.IGNORECASE,
)
_SITE = re.compile(r"\s+[|\-–—·»:]\s+|\s*[|_]\s*")
"""What stands between a title and the name of the site."""
_RUN = 3
"""Links in a row, without a sentence among them, that are a menu."""
_BEGINNING = 8
"""The blocks at the beginning among which the title may stand again."""


@dataclass(frozen=True, slots=True)
class PageBlock:
    """One block of text. `marks` are the marked elements around it, each with its number and mark; `parents` the
    numbers of the elements that contain it, the nearest last; `linked` the characters of its text that are links."""

    text: str
    marks: tuple[tuple[int, str], ...] = ()
    parents: tuple[int, ...] = ()
    linked: int = 0

    @property
    def is_links(self) -> bool:
        """True if hardly anything but links is in it."""
        return self.linked >= 0.8 * len(self.text.strip("#-*> \n")) > 0


def mark_of(tag: str, attributes: Mapping[str, str], *, is_inside: bool) -> str:
    """The part that an element begins; empty for none. `is_inside`: it is in the main part, whose header is a part of
    it."""
    if tag in _MAIN_TAGS:
        return MAIN
    if tag == "header" and is_inside:
        return ""
    role = _ROLES.get(attributes.get("role", "").lower(), "")
    named = [_plain(each) for each in _names(attributes)]
    if any(map(_GUTTER_NAME.fullmatch, named)):
        return GUTTER
    names = [] if tag in _WHOLE else named
    if any(_JUNK_NAME.fullmatch(name) and not _NOT_JUNK.search(name) for name in names):
        return JUNK
    if role or tag in _SIDE_TAGS or (not is_inside and any(map(_HEAD_NAME.fullmatch, names))):
        return role or SIDE
    return MAIN if not is_inside and any(map(_MAIN_NAME.fullmatch, names)) else ""


def is_hidden_part(attributes: Mapping[str, str]) -> bool:
    """True for an element whose class says that it is not seen."""
    return any(_HIDDEN_NAME.fullmatch(_plain(each)) for each in _NAME.findall(attributes.get("class", "")[:300]))


def chosen_text(blocks: Sequence[PageBlock], title: str) -> tuple[str, str]:
    """The text of a page with its title above it, and the title, without the name of the site where a heading has it
    alone."""
    size = sum(len(each.text) for each in blocks) or 1
    sizes: Counter[int] = Counter()
    for each in blocks:
        sizes.update({number: len(each.text) for number, mark in each.marks if mark != MAIN})
    wrappers = {number for number, held in sizes.items() if held > _MOST_OF_IT * size}

    def has(block: PageBlock, *marks: str) -> bool:
        held = {mark for number, mark in block.marks if number not in wrappers}
        if block.text.startswith("```"):
            held.discard(JUNK)  # a button to copy it stands in many a frame of code
        return not held.isdisjoint(marks)

    own = [each for each in blocks if not has(each, SIDE, JUNK, GUTTER)]
    main = [each for each in own if has(each, MAIN)]
    found = (
        main
        if _length(main) >= _ENOUGH
        else _container(own) or [each for each in blocks if not has(each, JUNK, GUTTER)]
    )
    found = _without_crumbs(found or list(blocks))
    return _titled([each.text for each in found], title, [each.text for each in blocks])


def _names(attributes: Mapping[str, str]) -> Iterable[str]:
    return _NAME.findall(f"{attributes.get('class', '')[:300]} {attributes.get('id', '')[:60]}")


def _plain(name: str) -> str:
    return _CAMEL.sub("-", name).lower()


def _length(blocks: Iterable[PageBlock]) -> int:
    return sum(len(each.text) for each in blocks)


def _container(blocks: list[PageBlock]) -> list[PageBlock]:
    """The blocks in the element that has most of the sentences; all blocks if none has most of them."""
    scores: Counter[int] = Counter()
    sentences = [each for each in blocks if not each.is_links and len(_SENTENCE.findall(each.text)) > 1]
    for each in sentences:
        weight = len(each.text)
        for number in each.parents:
            scores[number] += weight
    total = _length(sentences)
    whole = [number for number, score in scores.items() if score >= 0.9 * total]
    if not whole or total < _ENOUGH:
        return blocks
    held = {number: [each for each in blocks if number in each.parents] for number in whole}
    inner = _length(held[max(whole)])  # the last one that was opened lies deepest
    wide = [number for number in whole if _length(held[number]) <= 1.25 * inner + 100]
    found = held[min(wide)]
    return found if _length(found) >= 0.4 * _length(blocks) else blocks


def _without_crumbs(blocks: list[PageBlock]) -> list[PageBlock]:
    """The blocks without buttons, cookie banners, and lists of other pages; all of them if nothing else is left."""
    banners = [each for each in blocks if _COOKIE.search(each.text) and len(each.text) < 500]
    is_about = len(banners) > 3
    remaining: list[PageBlock] = []
    is_list = False
    for each in blocks:
        bare = _LINK.sub(r"\1", each.text).strip("#-*>| \n")
        is_list = _goes_on(each, bare) if is_list else False
        if _RELATED.fullmatch(bare):
            is_list = True
        is_banner = not is_about and each in banners and bool(_CONSENT.search(bare))
        if not (is_list or is_banner or (len(bare) < 140 and _CRUMB.fullmatch(bare))):
            remaining.append(each)
    remaining = _without_menus(remaining)
    words, before = (sum(len(each.text) - each.linked for each in some) for some in (remaining, blocks))
    return remaining if words >= min(_ENOUGH, before // 2) else blocks


def _goes_on(block: PageBlock, bare: str) -> bool:
    """True for a block that still belongs to a list of other pages."""
    if block.text.startswith("#") and not block.is_links:
        return False
    return block.is_links or (len(bare) < 90 and not re.search(r"[.!?。！？](?:\s|$)", bare))


def _without_menus(blocks: list[PageBlock]) -> list[PageBlock]:
    """The blocks without rows of links at the beginning and the end, unless links are most of the page."""
    if sum(each.is_links for each in blocks) > 0.6 * len(blocks):
        return blocks  # an index of other pages

    def run(among: Iterable[PageBlock]) -> int:
        count = links = 0
        for each in among:
            if not each.is_links or each.text.startswith("# "):
                break
            count += 1
            links += len(_LINK.findall(each.text))
        return count if links >= _RUN else 0

    first, last = run(blocks), run(reversed(blocks))
    return blocks[first : len(blocks) - last]


def _titled(blocks: list[str], title: str, everything: list[str]) -> tuple[str, str]:
    """The text with its title above it, once."""
    heads = [_LINK.sub(r"\1", each[2:]) for each in everything if each.startswith("# ")]
    lines = {_folded(each) for each in everything[: _BEGINNING * 2] if not each.startswith("#")}
    heads += [part for part in _SITE.split(title) if len(part) > _BEGINNING and _folded(part) in lines]
    short = next((each for each in heads if _says(each, title)), "")
    title = short or (title if not heads or title else heads[0]) or next(iter(heads), "")
    parts = {_folded(part) for part in (title, *_SITE.split(title)) if len(part) > 1}
    is_same: Callable[[str], bool] = lambda block: _folded(block.lstrip("# ")) in parts  # noqa: E731
    begin = 0
    while begin < min(len(blocks), 3) and is_same(blocks[begin]):
        begin += 1
    is_again = [is_same(each) and (each.startswith("#") or len(each) > 8) for each in blocks[:_BEGINNING]]
    rest = [each for at, each in enumerate(blocks) if at >= begin and not (at < len(is_again) and is_again[at])]
    if title:
        rest.insert(0, f"# {title}")
    return _joined(rest), title


def _says(head: str, title: str) -> bool:
    """True if a heading is the title without the name of the site."""
    plain = _folded(head)
    return bool(plain) and (plain in _folded(title) or any(_folded(part) == plain for part in _SITE.split(title)))


def _folded(text: str) -> str:
    return " ".join(_LINK.sub(r"\1", text).split()).casefold()


def _joined(blocks: list[str]) -> str:
    """The blocks with an empty line between them, except inside a list or a table."""
    text = ""
    before = ""
    for block in blocks:
        kind = _close(block)
        text += ("" if not text else "\n" if kind and kind == before else "\n\n") + block
        before = kind
    return text


def _close(block: str) -> str:
    if block.startswith("| "):
        return "row"
    return "item" if re.match(r" *(?:- |\d+\. )", block) else ""
