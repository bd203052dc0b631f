"""Before a graph is opened whose last process died, its log is read, tried, and mended or refused."""
