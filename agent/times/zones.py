"""Time zones as people name them: by their city."""

from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones


def zone_name(name: str) -> str:
    """The name of the zone `UTC`, `GMT` or `Europe/Berlin`; empty if there is none."""
    if name.upper() in ("UTC", "GMT"):
        return "UTC"
    try:
        return ZoneInfo(name).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ""


def zone_of_city(name: str) -> str:
    """The zone of a city by its English name; empty if there is none, or several."""
    names = _by_city().get(name.lower(), ())
    return names[0] if len(names) == 1 else ""


@lru_cache(maxsize=1)
def _by_city() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name in sorted(available_timezones()):
        if name.count("/") == 1 and not name.startswith(("Etc/", "posix/", "right/", "US/", "SystemV/")):
            city = name.partition("/")[2].replace("_", " ").lower()
            found[city] = (*found.get(city, ()), name)
    return found
