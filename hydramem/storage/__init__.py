"""The graph store (the truth), the vector store (derived), and what keeps them in agreement."""
