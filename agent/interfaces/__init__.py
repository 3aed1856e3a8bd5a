"""The interfaces: command line, HTTP, MCP, node. Thin callers of one `App`, without product logic."""
