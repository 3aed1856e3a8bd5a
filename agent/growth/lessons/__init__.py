"""Lessons: what the agent learns of how to go about work, from an observation with its evidence to a yes, used where it
applies, and set aside again by what the person changes and says.

Observations are reflections on runs (begin at `rounds`; `reflection` has the value). What three of them say becomes a
lesson: begin at `tend`, which does all of it; `lesson` has the value, `lesson_note` the note with a row for each,
`lesson_log` what became of them, `run_lessons` brings them into runs. A skill that works well is tried in variants
(`variants`, `trials`). None begins without one yes, but small variants of the agent's own skills, and
none comes from what strangers wrote.
"""
