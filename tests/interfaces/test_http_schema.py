"""The OpenAPI description holds: requests made from it, right and wrong ones, get the replies it names."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from llm_double import quoting
from schemathesis import GenerationMode

EXAMPLES = 5


@pytest.fixture(scope="module")
def operations(served, model):
    """What the description names, by method and path."""
    model.behave = quoting
    headers = {"Authorization": f"Bearer {served.tokens.admin}"}
    schema = schemathesis.openapi.from_url(f"{served.url}/openapi.json", headers=headers)
    found = [result.ok() for result in schema.get_all_operations()]
    return {f"{one.method.upper()} {one.path}": one for one in found}


def test_every_path_is_described(operations):
    assert sorted(operations) == [
        "GET /api/docs", "GET /api/documents/content", "GET /api/health", "GET /api/steering", "GET /api/suggestions",
        "POST /api/chat", "PUT /api/steering",
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
@pytest.mark.parametrize("role", ["read", "admin"])
def test_replies_are_as_described(operations, served, mode, role, request):
    many = 20 if request.config.getoption("markexpr") == "slow" else 1
    headers = {"Authorization": f"Bearer {getattr(served.tokens, role)}"}
    for operation in operations.values():

        @settings(
            max_examples=EXAMPLES * many,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def asked(case):
            case.call_and_validate(headers=headers)

        asked()
    assert served.admin.get("/api/health").status_code == 200
