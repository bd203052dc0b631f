"""Models: embedders and generators behind two small contracts."""
