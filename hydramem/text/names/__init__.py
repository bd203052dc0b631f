"""Names: compared by how they are spelled, and the variants that one thing may have."""
