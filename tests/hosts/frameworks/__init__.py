"""Tests of frameworks, against their real packages and fake models; `.ci/run` installs them apart."""
