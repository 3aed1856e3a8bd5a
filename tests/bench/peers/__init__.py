"""Other programs on the same notes and questions, in one run: how fast they index, search and find what was saved, what
memory and disk they take, and whether they find the right note.

Each works as a person or a model meets it, from its command line and through its own server, on its own copy of the
notes with a home folder of its own, so that none can change or warm anything for another. What is not installed is left
out, and the table says so.

    python -m tests.bench.peers [--notes 6289] [--questions 60] [--only NAME ...]
    python -m tests.bench.peers FOLDER FIXTURE.jsonl

Without a folder the notes are made: in 36 languages, of the words that `wordfreq` knows (`pip install wordfreq`).
"""
