"""The line in the note of the day about a variant: more notice than that is not given."""

from typing import Literal, TypeAlias

from agent.memory import daily
from agent.skills.variants.variant import Variant
from agent.texts import text
from agent.vault.change import Append
from agent.workspace.workspace import Workspace

DayEvent: TypeAlias = Literal["begun", "kept", "discarded", "inconclusive", "stopped", "rolled_back"]


def day_line(workspace: Workspace, event: DayEvent, variant: Variant, path: str) -> Append:
    """The request that adds the line to today's note."""
    language, now = workspace.settings.vault.language, workspace.clock.now()
    why = variant.why or variant.change
    lines = [text("variant.day_where", language, link=path.removesuffix(".md")), daily.inert(why)]
    title = text(f"variant.day_{event}", language, skill=variant.skill, number=variant.number)
    return Append(
        workspace.vault.home.day_note(now.date()),
        daily.block(now, title, lines).encode(),
        daily.beginning(workspace.vault, now.date()),
        daily.section("upkeep", language).encode(),
    )
