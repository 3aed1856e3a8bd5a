"""The frame of every page: templates with the texts, times and addresses that they use, and the content policy.

A page is made with a nonce of its own: htmx obeys only elements that carry it, so that text which somehow became
markup would still do nothing. The policy in the header allows no inline script, with a nonce or without; the one in
the page's head only names the nonce, for `hx-csp`.

Moments as people say them: `5 minutes ago`, `today 14:20`, `yesterday 09:05`, `Thu 07:30`, `12 November`.
"""

import re
import secrets
from collections.abc import Callable, Mapping
from datetime import date, datetime
from difflib import unified_diff
from functools import cache
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup
from starlette.responses import HTMLResponse

from agent.channel_names import OF_PROGRAM, TWO_WAY
from agent.clock import in_clock_zone
from agent.escape import escape
from agent.interfaces.http.pages.commit_words import commit_words
from agent.interfaces.http.pages.markdown import html_of, without_comments
from agent.interfaces.http.pages.page import PageRequest
from agent.interfaces.http.problems import problem_of
from agent.interfaces.http.responses import SECURITY_HEADERS
from agent.schedule.trigger_words import often_words
from agent.texts import LANGUAGES, Language, text, translated

_WEEK = 7
"""Days from today within which a day is called by its weekday."""


def moment_words(at: datetime, now: datetime, language: Language) -> str:
    """A moment beside `now`: how long until or since it within an hour, else its day and time, a far one as its day."""
    seconds = int((now - at).total_seconds())
    if abs(seconds) < 60:
        return text("pages.just_now", language)
    if is_age(at, now):
        count = abs(seconds) // 60
        way = "ago" if seconds > 0 else "ahead"
        return text(f"pages.{way}_minute_{'one' if count == 1 else 'many'}", language, count=count)
    local = in_clock_zone(at, now)
    day = day_words(local.date(), now.date(), language)
    return f"{day} {local:%H:%M}" if abs((local.date() - now.date()).days) < _WEEK else day


def is_age(at: datetime, now: datetime) -> bool:
    """True for a moment that is called by how far away it is."""
    return abs((now - at).total_seconds()) < 3_600


def day_words(day: date, today: date, language: Language) -> str:
    """A day beside `today`: today, tomorrow, its weekday in a few letters, or its date."""
    days = (day - today).days
    if abs(days) <= 1:
        return text(("pages.yesterday", "pages.on_today", "pages.tomorrow")[days + 1], language)
    if abs(days) < _WEEK:
        return text("pages.weekdays_brief", language).split()[day.weekday()]
    return date_words(day, today, language)


def date_words(day: date, today: date, language: Language) -> str:
    """A date, with its year if that is another one."""
    month = text("pages.months", language).split()[day.month - 1]
    key = "date" if day.year == today.year else "date_of_year"
    return text(f"pages.{key}", language, day=day.day, month=month, year=day.year)


def month_words(day: date, language: Language) -> str:
    """The month of a day, with its year."""
    return text(
        "pages.month_of_year", language, month=text("pages.months", language).split()[day.month - 1], year=day.year
    )


FOLDER = Path(__file__).parent
REPORTS = "/content-policy-reports"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    f"report-uri {REPORTS}"
)
HEADERS = {**SECURITY_HEADERS, "Content-Security-Policy": _POLICY, "Referrer-Policy": "same-origin"}
"""The headers of every page. Without a referrer a browser would not say either that a form is our own."""
_PLACE = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_DATED = re.compile(r"\d{4}-\d\d-\d\d (?=\S)")
_STAMPED = re.compile(r"\d{4}-\d\d-\d\d-(.+?)(?:-[a-z0-9]{6})?")


def page_response(template: str, request: PageRequest, values: Mapping[str, object], status: int = 200) -> HTMLResponse:
    """A template as a response."""
    return HTMLResponse(rendered(template, request, values).encode("utf-8", "replace"), status, HEADERS)


def problem_page(error: Exception, request: PageRequest, values: Mapping[str, object]) -> HTMLResponse:
    """An error as a page, or as the part that htmx shows, by the template that `part` of the values names."""
    problem = problem_of(error, request.language)
    context = {"problem": problem, "is_problem": True, "sentence": problem.detail, "hint": problem.hint, "error": error}
    return page_response(str(values["part"]) or "problem.html", request, {**values, **context}, problem.status)


def rendered(template: str, request: PageRequest, values: Mapping[str, object]) -> str:
    """A template filled in; `nonce` is a new one each time."""
    common = {"nonce": secrets.token_urlsafe(16), "ask": request, "language": request.language, "now": request.now}
    return _environment().get_template(template).render({**common, **values})


def compile_first_page() -> None:
    """Compile the templates of the first page, which takes longer than to make it: nobody shall wait for that."""
    for name in ("ask.html", "talks.html", "happening.html", "macros.html", "frame.html"):
        _environment().get_template(name)


def compile_pages(is_over: Callable[[], bool]) -> None:
    """Compile all other templates, until `is_over`."""
    for name in _environment().list_templates(["html"]):
        if is_over():
            return
        _environment().get_template(name)


def asset(name: str) -> str:
    """The address of one of our files, which changes with its content, so that a browser may keep it."""
    return f"/assets/{_digest(name)}/{name}"


def note_address(path: str, part: str = "notes") -> str:
    """The address of a note's page; `part` is `history` for its history."""
    return f"/{part}/{quote(path, errors='surrogateescape')}"


def talk_address(path: str) -> str:
    """The address of the page of a conversation, whose note is at `path`."""
    return note_address(path, "talk")


def note_name(path: str) -> str:
    """A note or table as people call it: its name without folders; of a memory's, the words without day and code."""
    name = path.rpartition("/")[2].removesuffix(".md").removesuffix(".base")
    stamped = _STAMPED.fullmatch(name)
    return stamped[1].replace("-", " ") if stamped else name


def talk_name(path: str) -> str:
    """A conversation as people call it: the name of its note without the day."""
    return _DATED.sub("", note_name(path))


def _visible(value: object) -> object:
    """Text with its active and invisible characters written out; what is markup already is left as it is."""
    return escape(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _exact(value: object) -> Markup:
    """A value that a form sends back as it is."""
    return Markup.escape(value)


@cache
def _digest(name: str) -> str:
    return sha256((FOLDER / name).read_bytes()).hexdigest()[:12]


@cache
def _environment() -> Environment:
    found = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    found.globals |= {"t": _text, "asset": asset, "note_address": note_address, "html": _html}
    found.globals |= {"talk_address": talk_address, "quote": quote, "of_language": _of_language, "languages": LANGUAGES}
    found.filters |= {
        "moment": _moment,
        "day": _day,
        "on_day": _on_day,
        "short": _short,
        "month": _month,
        "tr": _translated,
        "patch": patch_rows,
        "patch_to": patch_between,
        "clock": _clock,
        "exact": _exact,
        "note_name": note_name,
        "talk_name": talk_name,
        "in_words": _in_words,
        "often": _often,
        "signal": _signal,
        "channel": _channel,
        "without_comments": without_comments,
    }
    return found


@pass_context
def _text(context: Context, key: str, /, **values: object) -> str:
    language: Language = context["language"]
    return text(f"pages.{key}", language, **values)


def _of_language(language: Language, key: str) -> str:
    """How a language calls itself (`name`), and its `tag`."""
    return text(f"language.{key}", language)


@pass_context
def _often(context: Context, times: float) -> str:
    return often_words(times, context["language"])


@pass_context
def _signal(context: Context, name: str) -> str:
    """What a signal of a search says of a note."""
    return text(f"search_signals.{name}", context["language"])


@pass_context
def _channel(context: Context, name: str) -> str:
    """The name of a channel as people say it; one that the program does not know is left as it is."""
    request: PageRequest = context["ask"]
    return request.text(f"by_{name}") if name in OF_PROGRAM | TWO_WAY else name


@pass_context
def _html(context: Context, path: str, text: str) -> Markup:
    """Text of the note at `path` as HTML."""
    request: PageRequest = context["ask"]
    return html_of(request, path, text)


@pass_context
def _translated(context: Context, sentence: str) -> str:
    """A sentence of the program in the language of the reader."""
    language: Language = context["language"]
    return translated(sentence, language)


@pass_context
def _in_words(context: Context, subject: str) -> str:
    """What a commit was: a sentence in the reader's language, else its subject."""
    area, words = commit_words(context["language"], subject)
    return subject if area else words


@pass_context
def _moment(context: Context, at: datetime) -> Markup:
    """A time as people say it, with the exact one as its title; the page's script keeps an age current."""
    now: datetime = context["now"]
    local = in_clock_zone(at, now)
    age = Markup(" data-age") if is_age(at, now) else ""
    element = Markup('<time datetime="{}" title="{:%Y-%m-%d %H:%M:%S}"{}>{}</time>')
    return element.format(local.isoformat(), local, age, moment_words(at, now, context["language"]))


@pass_context
def _clock(context: Context, at: datetime) -> Markup:
    """The time of day, with the exact time as its title."""
    return _timed(context, at, f"{in_clock_zone(at, context['now']):%H:%M}")


@pass_context
def _short(context: Context, at: datetime) -> Markup:
    """The time of day, with its day if that is not today."""
    now: datetime = context["now"]
    local = in_clock_zone(at, now)
    day = day_words(local.date(), now.date(), context["language"])
    return _timed(context, at, f"{local:%H:%M}" if local.date() == now.date() else f"{day} {local:%H:%M}")


def _timed(context: Context, at: datetime, words: str) -> Markup:
    local = in_clock_zone(at, context["now"])
    element = Markup('<time class="clock" datetime="{}" title="{:%Y-%m-%d %H:%M:%S}">{}</time>')
    return element.format(local.isoformat(), local, words)


@pass_context
def _on_day(context: Context, at: datetime) -> str:
    """The day of a moment, as people say it."""
    return _day(context, in_clock_zone(at, context["now"]).date())


@pass_context
def _day(context: Context, day: date) -> str:
    language: Language = context["language"]
    weekday = text("times.weekdays", language).split()[day.weekday()]
    return text("pages.day", language, weekday=weekday, date=date_words(day, context["now"].date(), language))


@pass_context
def _month(context: Context, day: date) -> str:
    return month_words(day, context["language"])


def patch_between(before: str, after: str) -> str:
    """The patch from one text to another, without names of files."""
    return "\n".join(list(unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2))[2:])


def patch_rows(patch: str) -> list[tuple[str, str]]:
    """The lines of a patch with the class of each: added, removed, none, or place for the number of a line, where the
    patch leaves out lines before it."""
    rows = list[tuple[str, str]]()
    for line in patch.splitlines():
        if line.startswith(("diff --git ", "index ", "--- ", "+++ ", "old mode", "new mode", "similarity index")):
            continue
        if place := _PLACE.match(line):
            if int(place[1]) > 1:
                rows.append(("place", place[1]))
            continue
        rows.append(({"+": "added", "-": "removed"}.get(line[:1], ""), line))
    return rows
