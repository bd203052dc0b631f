"""The local page, on which a person sees and tends a memory: its server, and the static export."""
