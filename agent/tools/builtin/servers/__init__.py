"""The tools of MCP servers that the person has named on this machine (`config/servers.py`).

`session` has one server running and is the only module with the SDK; `listing` is what is known of its tools, `link`
makes them tools of the agent. What a server says is a stranger's text. It must not be loaded before a server is needed:
the SDK takes half a second.
"""
