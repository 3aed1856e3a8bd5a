"""All patterns in what a person does. What their agent does again and again is none of theirs: of steps, skills are
learned (`agent.skills.learning`), and the look back at a day hears of tools that keep failing (`tool_failure`)."""

from agent.growth.patterns.abandoned_task import abandoned_tasks
from agent.growth.patterns.activity import Activity
from agent.growth.patterns.daily_rhythm import daily_rhythms
from agent.growth.patterns.likeness import Vectors
from agent.growth.patterns.pattern import Pattern
from agent.growth.patterns.repeated_question import repeated_questions
from agent.growth.patterns.rising_topic import rising_topics
from agent.texts import Language


def detect(activity: Activity, language: Language, vectors: Vectors | None = None) -> tuple[Pattern, ...]:
    """The patterns of each kind, the surest first; the same for the same activity."""
    return (
        *repeated_questions(activity, language, vectors),
        *daily_rhythms(activity, language),
        *abandoned_tasks(activity, language),
        *rising_topics(activity, language),
    )
