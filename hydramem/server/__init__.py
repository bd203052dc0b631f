"""The MCP server: each operation as a tool, over stdio and over HTTP, with the same tools and answers."""
