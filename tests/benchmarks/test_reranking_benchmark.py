"""The benchmark of the reranker asks written questions that have a right answer each."""

from benchmarks.train_reranker.questions import counts, written


def test_written_questions_have_a_right_answer_each() -> None:
    found = list(written("test"))
    assert sum(counts(found).values()) == len(found) >= 400
    assert all(any(one.right for one in question.candidates) for question in found)
