"""Web pages as text: their encoding, their own text without what stands around it, their day."""
