"""The built-in tools, one file for each kind of resource."""
