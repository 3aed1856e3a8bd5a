"""Calls to a language model: messages, providers, wire formats and costs. Imports no tool and no note."""
