"""Write the MCP server, hooks and skills into the files of a host, and take exactly these out again."""
