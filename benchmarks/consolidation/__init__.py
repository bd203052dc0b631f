"""How well a memory tells what a new text does to an old one, through the public surface and harm first."""
