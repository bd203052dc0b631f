"""The open store: graph, vectors, snapshots and jobs of one folder, shared by the handles of a process."""
