"""The start of the MCP server is measured from processes that really start and answer."""

from benchmarks import mcp_start


def test_a_start_is_measured_beside_a_bare_interpreter():
    found = mcp_start.measure(runs=1)
    assert found.wall == found.slowest > found.bare_wall > 0
    assert found.cpu > found.bare_cpu > 0
    assert found.ratio > 1 and f"{found.ratio:.1f} times" in mcp_start.shown(found)
