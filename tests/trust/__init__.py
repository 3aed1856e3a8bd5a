"""The trust promises, each with a harness that keeps its own ledger and never asks the product what it lost."""
