"""The vault for other programs that speak MCP (Model Context Protocol), such as Claude Code: tools, resources, prompts.

Thin: a call becomes a call of the agent's own tools (`agent.tools`), under the same rules for paths, taint, policy and
approvals as a run's. Each program is named in its commits. It must not decide what may be done, and the SDK is imported
by the modules that serve (`server`, `stdio`, `http` and those beside them) only.
"""
