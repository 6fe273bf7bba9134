"""The description of the API is honest: requests made from it find no fault."""

import hypothesis
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase

from samekind.serving.asking import NoSettings
from samekind.serving.description import MEANINGS, body, responses

CHECKS = [
    schemathesis.checks.not_a_server_error,
    schemathesis.checks.status_code_conformance,
    schemathesis.checks.content_type_conformance,
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("medium", ["pictures", "points"])
def test_requests_made_from_the_description_find_no_fault(
    serve, space_folder, gallery_folder, points_folder, medium, quick_maps
):
    pictures = medium == "pictures"
    client = serve(space_folder, index=gallery_folder) if pictures else serve(points_folder)
    schema = schemathesis.openapi.from_url(f"{client.base_url}/openapi.json")
    quick = hypothesis.settings(
        max_examples=6,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
        derandomize=True,
        database=None,
    )
    tried = set()
    for result in schema.get_all_operations():
        operation = result.ok()

        @hypothesis.given(case=operation.as_strategy())
        @quick
        def ask(case):
            tried.add(case.operation.label)
            answer = case.call()
            case.validate_response(answer, checks=CHECKS)

        ask()
    assert {"POST /compare", "DELETE /classes", "GET /health", "GET /tradeoff"} <= tried


def test_every_answer_of_a_route_has_a_meaning():
    described = responses({"same": True}, 404, 409)
    assert set(described) == {200, 401, 403, 404, 409, 429}
    assert described[200]["content"]["application/json"]["example"] == {"same": True}
    assert described[409]["description"] == MEANINGS[409]


def test_a_body_is_files_or_vectors_or_settings_alone():
    both = body(NoSettings, "files", many=True)["requestBody"]["content"]
    assert set(both) == {"multipart/form-data", "application/json"}
    assert both["application/json"]["schema"]["required"] == ["vectors"]
    assert set(body(NoSettings, "files", vectors=False)["requestBody"]["content"]) == {"multipart/form-data"}


def test_examples_stand_in_the_description(plain_client):
    paths = plain_client().get("/openapi.json").json()["paths"]
    answer = paths["/compare"]["post"]["responses"]["200"]["content"]["application/json"]["example"]
    assert {"same", "score", "threshold", "probability", "false_accepts"} <= set(answer)
    for path, methods in paths.items():
        for method, route in methods.items():
            assert route["summary"], (path, method)
