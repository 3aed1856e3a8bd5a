"""One measured value of a table, and how it is shown."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """The value `key` of the part `part`, in `unit`: `ms`, `s`, `MB`, `KB`, `×`, `%`, or nothing for counts and shares.
    Without a limit it is not judged; with `at_least` the limit is a minimum."""

    what: str
    part: str
    key: str
    unit: str
    limit: float | None = None
    at_least: bool = False

    def is_reached(self, value: float) -> bool:
        if self.limit is None:
            return True
        return value >= self.limit if self.at_least else value <= self.limit

    def shown(self, value: float) -> str:
        """The value in its unit, bold if it does not keep its limit."""
        text = quantity(value, self.unit)
        return text if self.is_reached(value) else f"**{text}**"

    @property
    def wanted(self) -> str:
        """The limit in words; a dash for none."""
        if self.limit is None:
            return "–"
        return f"{'at least' if self.at_least else 'at most'} {quantity(self.limit, self.unit, is_exact=True)}"


def quantity(value: float, unit: str, *, is_exact: bool = False) -> str:
    """A number with three digits that count, and its unit; as it is with `is_exact`."""
    if is_exact:
        digits = f"{value:g}"
    elif not unit and value != int(value):
        digits = f"{value:.3f}"
    elif abs(value) >= 100 or value == int(value):
        digits = f"{value:,.0f}"
    else:
        digits = f"{value:.{1 if abs(value) >= 10 else 2 if abs(value) >= 0.1 else 3}f}"
    return f"{digits} {unit}".rstrip()
