"""The providers of models, each behind the contracts of generators and embedders."""
