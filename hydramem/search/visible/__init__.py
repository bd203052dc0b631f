"""What a reader may see of a project: views of its graph, lists, counts."""
