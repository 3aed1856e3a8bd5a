"""Time zones, by name: times of jobs are those of a zone, since an offset alone does not know of clock changes."""

import os
from functools import lru_cache
from itertools import count
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from agent.errors import UserError

UTC_NAME = "UTC"
_SET_IN = (
    *("/etc/localtime", "/usr/local/etc/localtime", "/etc/timezone", "/var/db/zoneinfo"),
    *("/etc/sysconfig/clock", "/etc/conf.d/clock"),
)
"""The files that say which zone a machine is in, beside the variable TZ."""
_looks = count()
_OLD = ("Etc/", "SystemV/", "US/", "Brazil/", "Canada/", "Chile/", "Mexico/", "posix/", "right/")


@lru_cache(maxsize=256)
def zone_of(name: str) -> ZoneInfo:
    """The zone of this name, such as `Europe/Berlin`; raises `UserError`."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UserError(
            "no such time zone: {name}", hint="use a name such as Europe/Berlin, Asia/Shanghai or UTC", name=name
        ) from error


def machine_zone() -> ZoneInfo:
    """The zone of this machine as it is now, UTC where it has none with a name."""
    return _zone_by((os.environ.get("TZ"), *map(_stamp, _SET_IN)))


@lru_cache(maxsize=1)
def _zone_by(signs: object) -> ZoneInfo:
    """The zone while these signs stay as they are: to look for it takes 3 ms, and each job without a zone asks."""
    from tzlocal import get_localzone_name, reload_localzone

    try:
        if next(_looks):
            reload_localzone()  # looks twice; it may have been changed since the first look
        return zone_of(get_localzone_name() or UTC_NAME)
    except (LookupError, OSError, ValueError, UserError):
        return zone_of(UTC_NAME)


def _stamp(path: str) -> tuple[int, int, int] | None:
    """What changes when a file or a link is written anew."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size


@lru_cache(maxsize=1)
def zone_names() -> tuple[str, ...]:
    """The names that a person may choose from, sorted; without the old ones, such as `Cuba` or `Etc/GMT+3`."""
    names = sorted(each for each in available_timezones() if "/" in each and not each.startswith(_OLD))
    return (UTC_NAME, *names)
