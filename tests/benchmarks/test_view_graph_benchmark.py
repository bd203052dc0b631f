from benchmarks import view_graph


def test_what_the_graph_of_the_page_calls_is_measured() -> None:
    found = view_graph.measure(entities=200, nodes=20, edges=40, browser=False)
    assert found.entities == 220
    assert {"graph, 60 nodes", "communities"} <= {row.row for row in found.rows}
    assert all(row.first > 0 and row.first_cpu > 0 for row in found.rows)
    shown = view_graph.shown(found)
    assert "220 entities" in shown and "| communities |" in shown
