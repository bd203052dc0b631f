"""The cost of telemetry is measured from recalls that one store records and another does not."""

from benchmarks import telemetry_cost


def test_recalls_are_measured_with_telemetry_and_without():
    found = telemetry_cost.measure(memories=8, recalls=4, embedder="hash")
    assert (found.memories, found.recalls) == (8, 4)
    assert min(found.off_ms, found.on_ms, found.off_wall_ms, found.note_us, found.write_us) > 0
    assert abs(found.added) < 1
