"""Tests of erasing."""
