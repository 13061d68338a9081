from pydantic import SecretStr

from tests.app.api.conftest import QUESTION


def test_metrics_are_off_unless_enabled(client):
    assert client.get("/metrics").status_code == 404


def test_metrics_count_outcomes_and_requests_and_name_nobody(serve_with):
    served = serve_with(metrics=True)
    with served.client() as client:
        request_id = client.post("/v1/ask", json={"question": QUESTION}).json()["request_id"]
        client.post("/v1/ask", json={"question": "Wie wird das Wetter morgen in Graz?"})
        client.get(f"/v1/answers/{request_id}")
        client.get("/v1/nothing")
        text = client.get("/metrics").text
    lines = text.split("\n")
    assert 'pv_outcomes_total{mode="extractive",reason="",status="answered"} 1.0' in lines
    assert 'pv_api_requests_total{method="POST",path="/v1/ask",status="200"} 2.0' in lines
    assert 'pv_api_requests_total{method="GET",path="/v1/answers/{request_id}",status="200"} 1.0' in lines
    assert 'pv_api_requests_total{method="other",path="other",status="404"} 1.0' in lines
    assert "pv_model_queue_waiting 0.0" in lines
    assert request_id not in text
    assert "Geringf" not in text


def test_from_the_first_service_key_on_metrics_need_one(serve_with):
    served = serve_with(metrics=True, api_key=SecretStr("service-key"))
    with served.client() as client:
        assert client.get("/metrics").status_code == 401
    with served.client("service-key") as client:
        assert client.get("/metrics").status_code == 200
