"""Finds the few memories for a question that one person may see. Searches through callables and writes nothing."""
