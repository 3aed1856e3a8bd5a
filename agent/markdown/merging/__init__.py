"""The three-way merge of notes for git and for sync: no line is dropped, no marker is written. Pure, without I/O.

`notes` is the door. The header is merged by key (`header`, `values`), the body by block (`body`); where the two sides
contradict each other, one whole version is returned beside the merged note.
"""
