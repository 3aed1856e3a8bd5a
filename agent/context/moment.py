"""What a task is told of its moment: date, weekday, time and zone, and for a job that nobody is there.

It stands beside the task, so that the parts of a request that a provider's cache keeps have no clock time, and it is
never written anew.
"""

from datetime import datetime

from agent.llm.messages import Context

MOMENT = "moment"
"""The source of its message."""
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_NOBODY = (
    "You run as the job `{job}`. What you answer goes to {place}. Nobody can answer now: decide what you can decide, "
    "leave what you cannot, and say which."
)


def moment(now: datetime, job: str = "", place: str = "") -> Context:
    """The message for a task that begins now, a time with its zone. `job` is the id of the job that runs, empty for
    none, and `place` where its answer goes."""
    name, offset = now.tzname() or "", now.isoformat()[-6:]
    named = name if name.startswith("UTC") else ", ".join(filter(None, (name, f"UTC{offset}")))
    rows = [f"It is {_DAYS[now.weekday()]}, {now:%Y-%m-%d %H:%M} ({named})."]
    rows += [_NOBODY.format(job=job, place=place)] if job else []
    return Context("\n".join(rows), MOMENT)
