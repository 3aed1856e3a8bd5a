"""The model's input and its size: sources, budget, assembly, compaction. Calls no model."""
