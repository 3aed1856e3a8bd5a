"""Models behind programs that the person has on this machine: Claude Code, Codex, Gemini CLI, each in its mode for
scripts and without its own tools, hooks and memory. Knows no HTTP."""
