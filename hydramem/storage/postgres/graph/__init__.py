"""The graph on PostgreSQL: reads, writes, counts and the tables that a snapshot is made of."""
