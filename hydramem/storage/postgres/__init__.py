"""The stores on PostgreSQL with pgvector, for memories that several machines share."""
