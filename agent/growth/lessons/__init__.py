"""Lessons: what the agent learns of how to go about work, from an observation with its evidence to a yes, used where it
applies, and set aside again by what the person changes and says.

Begin at `tend`, which does all of it; `lesson` has the value, `lesson_note` the note with one row each, `lesson_log`
what became of them, `given_lessons` brings them into runs. None begins without one yes, and none comes from what
strangers wrote."""
