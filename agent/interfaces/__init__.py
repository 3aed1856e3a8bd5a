"""The ways in: command line, HTTP, MCP, node. Thin callers of one `App`; no logic of the product lives here."""
