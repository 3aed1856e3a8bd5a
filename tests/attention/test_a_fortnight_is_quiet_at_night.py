"""Two weeks of the daemon at a fast clock: jobs that fail, briefings and suggestions, and what its person is shown."""

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from agent.app.notice_ledger import open_ledger
from agent.attention.quiet import parse_quiet
from agent.events.notices import NoticeRaised
from tests.attention.outboxes import a_notice
from tests.growth.fortnight import fortnight
from tests.jobs.town import Town, found, job
from tests.vaults import git, write

DAILY, QUIET = 5, "22-8"
KINDS = ("job_failed", "pattern", "question", "spend", "security")


@pytest.fixture
def town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Town:
    return found(tmp_path, monkeypatch.setenv)


def settle_down(town: Town) -> None:
    """The notes of a person's fortnight, and jobs at all hours."""
    for path, text in fortnight().notes.items():
        write(town.root / path, text)
    write(town.root / "jobs/briefing.md", job("{cron: '0 9 * * *'}", "Brief me.", channel="mail"))
    write(town.root / "jobs/night.md", job("{cron: '0 */5 * * *'}", "Look around.", channel="mail"))
    git(town.root, "add", "-A")
    git(town.root, "commit", "-q", "-m", "A life")


def raised_at(random: Random, hour: int) -> list[NoticeRaised]:
    """What comes up within an hour, mostly one or two things, sometimes many."""
    count = random.choice((0, 0, 1, 1, 2, 6))
    return [
        a_notice(f"thing {hour}-{number}", random.choice((0.3, 0.6, 0.8, 1.0)), random.choice(KINDS))
        for number in range(count)
    ]


@pytest.mark.parametrize("days", [1, pytest.param(14, marks=pytest.mark.chaos)])
def test_no_notice_at_night_and_five_a_day_at_most(town: Town, days: int) -> None:
    settle_down(town)
    random, published = Random(17), set[str]()
    with town.daemon() as house:
        house.step()
        for hour in range(24 * days):
            for notice in raised_at(random, hour):
                house.live.bus.publish(notice)
                published.add(notice.title)
            for _ in range(2):
                town.clock.pass_by(minutes=30)
                house.step()
                house.until(lambda: not house.parts.jobs.runs, "no job runs: time would pass it by")
        house.until(lambda: not house.working, "all is done")
    receipts = open_ledger(town.workspace).all()
    quiet = parse_quiet(QUIET)
    # what its person has set for an hour and a channel comes then
    shown = [each for each in receipts if each.delivered_at is not None and not each.raised.urgent]
    assert not [each for each in shown if each.delivered_at and quiet.end_after(each.delivered_at)]
    told = [each for each in shown if not each.is_digest]
    by_day = Counter(quiet.day_of(each.delivered_at) for each in told if each.delivered_at)
    assert by_day and max(by_day.values()) <= DAILY, by_day
    titles = {each.raised.title for each in receipts}
    assert published <= titles and len({each.id for each in receipts}) == len(receipts)
    assert all(each.decision.rule for each in receipts)
    assert set(town.outcomes("briefing")) == {"done"}, town.rows("briefing")
    assert [each for each in receipts if each.raised.type == "job_answer"]
    assert {"sent", "digest"} <= {each.decision.decided for each in receipts}
