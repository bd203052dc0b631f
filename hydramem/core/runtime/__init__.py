"""How this process uses memory and its interpreter."""
