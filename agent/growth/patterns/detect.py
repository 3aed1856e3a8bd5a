"""All patterns in what a person does."""

from agent.growth.patterns.abandoned_task import abandoned_tasks
from agent.growth.patterns.activity import Activity
from agent.growth.patterns.daily_rhythm import daily_rhythms
from agent.growth.patterns.likeness import Vectors
from agent.growth.patterns.pattern import Pattern
from agent.growth.patterns.repeated_question import repeated_questions
from agent.growth.patterns.rising_topic import rising_topics
from agent.growth.patterns.tool_failure import tool_failures
from agent.growth.patterns.workflow_sequence import workflow_sequences
from agent.texts import Language


def detect(activity: Activity, language: Language, vectors: Vectors | None = None) -> tuple[Pattern, ...]:
    """The patterns of each kind, the surest first; the same for the same activity."""
    return (
        *repeated_questions(activity, language, vectors),
        *tool_failures(activity, language),
        *workflow_sequences(activity, language),
        *daily_rhythms(activity, language),
        *abandoned_tasks(activity, language),
        *rising_topics(activity, language),
    )
