"""Time zones, by name: times of jobs are those of a zone, since an offset alone does not know of clock changes."""

from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from agent.errors import UserError

UTC_NAME = "UTC"
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
    from tzlocal import get_localzone_name, reload_localzone

    try:
        reload_localzone()  # it may have been changed since the start
        return zone_of(get_localzone_name() or UTC_NAME)
    except (LookupError, OSError, ValueError, UserError):
        return zone_of(UTC_NAME)


@lru_cache(maxsize=1)
def zone_names() -> tuple[str, ...]:
    """The names that a person may choose from, sorted; without the old ones, such as `Cuba` or `Etc/GMT+3`."""
    names = sorted(each for each in available_timezones() if "/" in each and not each.startswith(_OLD))
    return (UTC_NAME, *names)
