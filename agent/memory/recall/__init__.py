"""From a question to the few memories that one person may see. It searches through callables and writes nothing."""
