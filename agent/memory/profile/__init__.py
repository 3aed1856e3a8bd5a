"""What the agent knows about its person: the notes in `profile/`, their layers, and changes that rest on evidence.

`profile_file` reads a note, `changes` is the only door through which the program writes one. A line that the person
wrote is never touched here, and a change without the person's own words as evidence is refused.
"""
