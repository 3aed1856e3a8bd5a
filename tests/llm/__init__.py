"""Tests of `agent/llm`."""
