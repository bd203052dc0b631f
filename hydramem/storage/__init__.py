"""The graph store (authoritative), the vector store (derived), and what keeps them in agreement."""
