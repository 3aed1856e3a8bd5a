"""Search over notes: keywords, vectors and their fusion, all of it derived and free to be deleted.

The only door to Whoosh, tantivy, usearch and model2vec. Never lists, reads or writes notes itself.
"""
