"""What is counted."""

from samekind.serving.metrics import Metrics


def test_two_servers_count_apart():
    first, second = Metrics(), Metrics()
    first.answered("/compare", 200, 0.01)
    first.embedded(3)
    first.embedded(0)  # a request without items is no batch
    first.watch(lambda: 7)
    text = first.text().decode()
    assert 'samekind_requests_total{route="/compare",status="200"} 1.0' in text
    assert 'samekind_request_seconds_bucket{le="0.02",route="/compare"} 1.0' in text
    assert "samekind_embedded_together_count 1.0" in text
    assert "samekind_waiting 7.0" in text
    assert "/compare" not in second.text().decode()
