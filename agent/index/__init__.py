"""Search over notes: keywords, vectors and their fusion. The index is a cache and may be deleted at any time.

The only folder that imports Whoosh, tantivy, usearch and model2vec. It never lists, reads or writes notes itself.
"""
