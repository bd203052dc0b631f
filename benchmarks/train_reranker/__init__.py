"""Training of the reranker on questions and passages: those of the visible sets, and written ones."""
