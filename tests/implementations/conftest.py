"""Inputs with a different prime for each axis: batch 2, heads 3, lengths 5 and 7, d_k 11, d_model 33 = 3 * 11."""

import pytest
import torch

from tests.implementations.cases import Case, cases


@pytest.fixture(params=cases(), ids=lambda case: case.name)
def case(request: pytest.FixtureRequest) -> Case:
    return request.param


@pytest.fixture(autouse=True)
def _inference():
    with torch.inference_mode():
        yield
