"""Pure text: what a note says, and how to change it without touching the rest. No files, no git, no clock."""
