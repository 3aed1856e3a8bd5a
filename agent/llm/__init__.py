"""Talking to a language model: messages, providers, their wires, and what it costs. Knows no tool and no note."""
