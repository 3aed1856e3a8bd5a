"""What the agent has done of itself and its person should hear of, in the day's note: a log line of a daemon is read by
nobody. Doing it is left to whoever announces."""

from agent.app.build import App
from agent.memory import daily
from agent.memory.capture.writer import Addition, create_missing
from agent.skills.feedback import PutAside
from agent.vault.write.change import Stamp

_SAID = {
    "en": (
        "The skill {name} was put aside",
        "It was learned, and its last uses, one after the other, did no good. It lies in [[{link}]] now.",
        "`vault-agent undo {commit}` brings it back",
    ),
    "zh": (
        "技能 {name} 已停用",
        "它是学来的，最近连续几次使用都没有帮助。现在在 [[{link}]]。",
        "`vault-agent undo {commit}` 可以恢复",
    ),
}


def announce(app: App, gone: PutAside) -> None:
    """Write into today's note that a learned skill was moved away, and how to have it back; raises what a transaction
    raises."""
    title, *bullets = _SAID[app.settings.vault.language]
    known = {"name": gone.name, "link": gone.path.removesuffix(".md"), "commit": (gone.commit or "")[:12]}
    now = app.clock.now()
    text = daily.block(
        now, title.format(**known), [each.format(**known) for each in bullets[: 2 if gone.commit else 1]]
    )
    note = Addition(daily.path_of(now.date()), daily.new_note(now.date()).encode(), text.encode())
    stamp = Stamp("agent", tool="skill_feedback")
    create_missing(app.vault, [note], stamp)
    with app.vault.transaction(f"skills(deprecate): say so of {gone.name}", stamp) as day:
        day.append(note.path, note.text)
