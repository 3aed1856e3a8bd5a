"""What came of a run."""

from agent.deeds.result import ResultValue
from agent.runs.report import RunReport


class CitedLines(ResultValue, frozen=True):
    """Lines of a note that the model was shown."""

    path: str
    lines: list[int]


class Spent(ResultValue, frozen=True):
    """What the models cost; `money` in US dollars."""

    calls: int
    input_tokens: int
    output_tokens: int
    money: float


class RunResult(ResultValue, frozen=True):
    """What came of a run. `waits_for` is the note in which its person decides or answers before it goes on, and
    `also_waits_for` are those of the other calls that need a yes, too; `sources` are the lines that the model was
    shown, `used` those of them that the answer used. `quoted`: the model failed before it had done anything, and the
    answer quotes the notes."""

    answer: str
    outcome: str
    reason: str | None
    hint: str | None
    waits_for: str | None
    also_waits_for: list[str]
    queued: str | None
    refused: list[str]
    quoted: bool
    remarks: list[str]
    run: str
    session: str
    commits: list[str]
    sources: list[CitedLines]
    used: list[CitedLines]
    spend: Spent


def run_result(report: RunReport) -> RunResult:
    """What came of a run."""
    ended, spent = report.ended, report.spent
    return RunResult.of(
        report,
        ended,
        also_waits_for=list(report.also),
        quoted=ended.is_quoted,
        sources=[CitedLines.of(each) for each in dict.fromkeys((*ended.provided, *ended.sources))],
        used=[CitedLines.of(each) for each in ended.used],
        spend=Spent(spent.calls, spent.usage.input, spent.usage.output, round(spent.money, 6)),
    )
