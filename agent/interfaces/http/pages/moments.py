"""Moments as people say them: `5 minutes ago`, `today 14:20`, `yesterday 09:05`, `Thu 07:30`, `12 November`."""

from datetime import date, datetime

from agent.clock import in_clock_zone
from agent.texts import Language, text

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
