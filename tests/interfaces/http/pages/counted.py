"""Days of metrics, notices and costs, as a vault has them after some weeks, for looking at its metrics."""

import json
import random
from datetime import datetime, timedelta

from agent.app.notice_ledger import open_ledger
from agent.attention.receipt import NoticeDecision
from agent.background.active_alerts import ActiveAlert, save_active_alerts
from agent.events.notices import Decided, NoticeRaised
from agent.llm.ledger import LedgerEntry, SpendScope
from agent.llm.messages import Usage
from agent.metrics.alerts import Alert
from agent.runs.status import ledger_of
from agent.workspace.workspace import Workspace

TOOLS = ("search_vault", "vault_read", "vault_append", "web_fetch", "recall", "vault_edit")


def count_days(workspace: Workspace, days: int = 40) -> None:
    """Write the metrics of so many days up to yesterday; some days are missing, as the machine was off."""
    chance, now = random.Random(7), workspace.clock.now()
    workspace.metrics.mkdir(parents=True, exist_ok=True)
    for back in range(days, 0, -1):
        if back % 9 == 4:
            continue
        day = (now - timedelta(days=back)).date()
        recalls = chance.randint(2, 16)
        hits = chance.randint(recalls // 3, recalls)
        failed, denied = chance.randint(0, 4), chance.randint(0, 2)
        figures = {
            "events": {"proactive.memory.recalled": recalls, "task.completed": recalls},
            "outcomes": {"finished": recalls - 1, "failed": 1},
            "sums": {"recall_hits": hits, "recall_degraded": 0, "entries_saved": 3, "entries_known": 2,
                     "entries_merged": 1, "answers_given": hits, "answers_used": hits // 2},
            "recall_seconds": {"0.02": recalls - 1, "0.3": 1, "sum": 0.4},
            "used": {tool: chance.randint(1, 12) for tool in TOOLS},
            "failed": {"web_fetch": failed + denied},
            "denied": {"web_fetch": denied},
            "job_statuses": {"done": chance.randint(1, 5), "nothing": chance.randint(0, 3),
                             "failed": int(back % 6 == 0)},
            "patterns": {"abandoned_task": int(back % 5 == 0)},
        }  # fmt: skip
        (workspace.metrics / f"{day.isoformat()}.json").write_text(json.dumps(figures))


def raise_notices(workspace: Workspace, days: int = 40) -> None:
    """Notices of these days, with their decisions."""
    chance, now, ledger = random.Random(8), workspace.clock.now(), open_ledger(workspace)
    decided: tuple[Decided, ...] = ("sent", "sent", "sent", "held", "digest", "dropped")
    for back in range(days, 0, -1):
        for number in range(chance.randint(0, 4)):
            ledger._clock = _At(now - timedelta(days=back))  # type: ignore[assignment]
            raised = NoticeRaised("house", 0.8, f"Something of day {back}, {number}")
            ledger.add(workspace.clock.new_id(), raised, NoticeDecision(chance.choice(decided), "allowed"), "daily")


def spend(workspace: Workspace, days: int = 40) -> None:
    """The cost of models on these days."""
    chance, ledger = random.Random(9), ledger_of(workspace)
    for back in range(days, -1, -1):
        with ledger.exclusive() as page:
            usage, money = Usage(4_000, 600), round(chance.random() * 1.8, 3)
            entry = LedgerEntry(workspace.clock.new_id(), SpendScope("r"), "m", usage, money, open=False)
            page.write(ledger.today() - timedelta(days=back), entry)


def have_trouble(workspace: Workspace, subject: str = "brief") -> None:
    """Two alerts that stand."""
    since = workspace.clock.now() - timedelta(hours=3)
    alerts = Alert("job_failures", subject, 4), Alert("node_away", "", 180)
    save_active_alerts(workspace.vault, [ActiveAlert(each, since, "x") for each in alerts])


class _At:
    """A clock that stands."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at
