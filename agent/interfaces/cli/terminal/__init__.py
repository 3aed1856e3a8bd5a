"""A person's terminal: rendered Markdown, the lines that show what a run does, and the editing of a message.

The doors to `rich` and `prompt_toolkit`. Both take a quarter of a second to import, so the modules here are imported
when a run or a chat begins on a terminal, never for `--help`, `status` or a pipe. Printing is left to `printing`.
"""
