"""The model of the person: what they prefer, by what they have said, changed, chosen and asked on about.

Each belief is a block in the note of their preferences with its figures and its evidence. All of it is found again in
the vault: no state but the notes and their history. Nothing is concluded from what others wrote or a model thinks.
"""
