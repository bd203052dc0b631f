"""A memory on PostgreSQL beside the embedded folder, in the same run."""
