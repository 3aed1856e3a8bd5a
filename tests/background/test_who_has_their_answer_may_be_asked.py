"""A question that nothing waits for is put after a run whose person is there and has their answer, and only then."""

from dataclasses import replace

import pytest

from agent.background.curiosity import has_answered_person
from agent.channel_names import IN_NOTES
from agent.events.runs import Speaker, TaskCompleted

ANSWERED = TaskCompleted("r", "sessions/a.md", "plan", Speaker("cli"), "finished", "Done.", (), 1.0, 1)


def test_a_conversation_with_its_answer_counts() -> None:
    assert has_answered_person(ANSWERED)


@pytest.mark.parametrize(
    "other",
    [
        replace(ANSWERED, job="morning-briefing"),
        replace(ANSWERED, outcome="needs_approval"),
        replace(ANSWERED, outcome="question_asked"),
        replace(ANSWERED, outcome="failed"),
        replace(ANSWERED, speaker=Speaker("telegram", "42", group=True)),
        replace(ANSWERED, speaker=Speaker(IN_NOTES)),
    ],
    ids=lambda each: f"{each.job}{each.outcome}{each.speaker.channel}",
)
def test_a_run_that_waits_a_group_and_a_note_do_not(other: TaskCompleted) -> None:
    assert not has_answered_person(other)
