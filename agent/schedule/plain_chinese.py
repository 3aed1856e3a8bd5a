"""The Chinese words of times, for `plain_times`."""

import re

from agent.schedule.plain_units import (
    Build,
    CalendarDay,
    ClockTime,
    Day,
    Days,
    Interval,
    InZone,
    Later,
    MonthDay,
    PartOfDay,
    Unclear,
    Unit,
    UnitWords,
)

_DIGITS = {"零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_PARTS: dict[str, PartOfDay] = {
    **dict.fromkeys(("早上", "早晨", "清晨", "上午", "早"), "morning"),
    "中午": "noon",
    "下午": "afternoon",
    **dict.fromkeys(("傍晚", "晚上", "晚"), "evening"),
    **dict.fromkeys(("深夜", "夜里"), "night"),
    "凌晨": "night_start",
}
_ZONES = {
    **dict.fromkeys(("北京", "上海"), "Asia/Shanghai"),
    "香港": "Asia/Hong_Kong",
    "台北": "Asia/Taipei",
    "东京": "Asia/Tokyo",
    "新加坡": "Asia/Singapore",
    "伦敦": "Europe/London",
    "柏林": "Europe/Berlin",
    "巴黎": "Europe/Paris",
    "纽约": "America/New_York",
    "洛杉矶": "America/Los_Angeles",
}
_SECONDS = {"秒": 1, "分": 60, "小": 3600, "钟": 3600, "天": 86_400, "周": 604_800, "星": 604_800}
_N = r"(?:\d{1,3}|[零〇一二两三四五六七八九十]{1,4})"
_D = r"[一二三四五六日天]"
_PART = rf"(?P<part>{'|'.join(sorted(_PARTS, key=len, reverse=True))})?的?"
_QUARTERS = {"半": 30, "一刻": 15, "三刻": 45}


def _number(text: str) -> int:
    """The number of 15, 十五, 二十, 两; raises `Unclear`."""
    if text.isascii():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    if len(tens) > 1 or len(ones) > 1:
        raise Unclear
    return (_DIGITS.get(tens, 1) * 10 if ten else 0) + _DIGITS.get(ones, 0)


def _part(match: re.Match[str]) -> PartOfDay:
    return _PARTS.get(match.groupdict().get("part") or "", "")


def _weekdays(match: re.Match[str]) -> Unit:
    days = (_weekday(each) for each in re.findall(_D, match["days"]))
    return Days(",".join(str((day + 1) % 7) for day in dict.fromkeys(days)))


def _weekday(char: str) -> int:
    return 6 if char in "日天" else "一二三四五六".index(char)


def _month_day(match: re.Match[str]) -> Unit:
    day = _number(match["day"])
    if not 1 <= day <= 31:
        raise Unclear
    return MonthDay(str(day))


def _interval(match: re.Match[str]) -> Unit:
    number = _number(match["n"]) if match["n"] else 1
    return Interval(number * _SECONDS[match["unit"][0]])


def _clock(match: re.Match[str]) -> Unit:
    given = match.groupdict()
    minute = _QUARTERS.get(given.get("quarter") or "", 0) or _number(given.get("minute") or given.get("digits") or "0")
    hour, part = _number(match["hour"]), _part(match)
    return ClockTime(hour, minute, part, bool(part) or hour >= 13)


def _date(match: re.Match[str]) -> Unit:
    year = match["year"]
    return CalendarDay(_number(match["month"]), _number(match["day"]), int(year) if year else None)


def _near_day(match: re.Match[str]) -> Unit:
    ahead = {"今": 0, "明": 1, "后": 2}[match[0][0]]
    return Day(ahead, part=_part(match) or _PARTS.get(match[0][1:], ""))


def _words(pattern: str, build: Build) -> UnitWords:
    return UnitWords(re.compile(pattern), re.compile(rf"(?:{pattern})[\s。！]*$"), build)


_WEEK = "(?:周|星期|礼拜)"
_IN_PART = r"(?:的?(?P<part>早上|早晨|清晨|上午|下午|傍晚|晚上|深夜|夜里|凌晨))?"
_AT = rf"(?:的?(?:上午|下午|早上|晚上|中午))?{_N}[点:]"
"""A time of day, which tells the days of a schedule from a word at the begin of a task."""
CHINESE = (
    _words(r"每天|每日|天天", lambda _: Days()),
    _words(r"每(?:天)?(?P<part>晚上?|早上?)(?!点)", lambda match: Days("*", _part(match))),
    _words(rf"(?:每个?|在)工作日|每逢工作日|^工作日(?={_AT})", lambda _: Days("1-5")),
    _words(rf"(?:每个?{_WEEK}|^{_WEEK})一[到至]{_WEEK}?五", lambda _: Days("1-5")),
    _words(rf"每(?:个)?{_WEEK}末|^周末(?={_AT})", lambda _: Days("6,0")),
    _words(r"每隔一天|每两天|每2天|隔天", lambda _: Days(every_other=True)),
    _words(rf"每(?:个)?(?:周|星期|礼拜)(?P<days>{_D}(?:[、,，和与](?:周|星期|礼拜)?{_D})*)", _weekdays),
    _words(rf"每(?:个)?月(?:的)?(?P<day>{_N})[号日]", _month_day),
    _words(r"每(?:个)?月(?:的)?最后一天", lambda _: MonthDay("L")),
    _words(rf"(?:今天|明天|后天){_IN_PART}|今晚|明晚|今早|明早", _near_day),
    _words(
        rf"(?:这个?|本)?{_WEEK}(?P<day>{_D}){_IN_PART}",
        lambda match: Day(weekday=_weekday(match["day"]), part=_part(match)),
    ),
    _words(
        rf"下个?{_WEEK}(?P<day>{_D}){_IN_PART}",
        lambda match: Day(weekday=_weekday(match["day"]), is_next_week=True, part=_part(match)),
    ),
    _words(rf"(?:(?P<year>\d{{4}})年)?(?P<month>{_N})月(?P<day>{_N})[号日]", _date),
    _words(rf"每(?:隔)?(?P<n>{_N})?个?(?P<unit>小时|分钟|钟头|秒钟?)", _interval),
    _words(r"每(?:隔)?半个?(?:小时|钟头)", lambda _: Interval(1800)),
    _words(
        rf"(?:过)?(?P<n>{_N})个?(?P<unit>小时|分钟|钟头|天|周|星期)(?:以|之)?后",
        lambda match: Later(_number(match["n"]) * _SECONDS[match["unit"][0]]),
    ),
    _words(r"(?:过)?半个?(?:小时|钟头)(?:以|之)?后", lambda _: Later(1800)),
    _words(
        rf"{_PART}(?P<hour>{_N})点(?:(?P<quarter>半|一刻|三刻)|(?P<minute>{_N})分|(?P<digits>\d\d)(?!\d))?(?:整(?![理个合体])|钟)?",
        _clock,
    ),
    _words(rf"{_PART}(?P<hour>\d{{1,2}}):(?P<minute>\d\d)", _clock),
    _words(r"中午(?!\d|[一二十]+点)", lambda _: ClockTime(12, is_sure=True)),
    _words(r"午夜", lambda _: ClockTime(0, is_sure=True)),
    _words(rf"(?P<city>{'|'.join(_ZONES)})时间", lambda match: InZone(_ZONES[match["city"]])),
)
LEAD = re.compile(r"(请?提醒我)(.+)", re.DOTALL)
"""Words before a time that belong to the task."""
LEFT_OVER = re.compile(rf"^(?:和|或|到|至|以及|直到|除了|、)|直到|除外|(?:上午|下午|早上|晚上){_N}点")
"""What the rest of a text must not have: then the time is more than was understood."""
OTHER_DAY = re.compile(rf"每[天日周个月晚早]|今天|明天|后天|(?:周|星期|礼拜){_D}")
"""Days that may belong to a time of day that stands without one."""
