"""The checkpoints, each made once."""

from collections.abc import Callable
from functools import cache

import pytest

from tests.analysis.site.positions import RECIPES, Found
from tests.models.huggingface import architectures, checkpoints


@pytest.fixture(scope="package")
def load_case(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Found]:
    """Each checkpoint once."""

    def make(name: str) -> Found:
        place = tmp_path_factory.mktemp("hf") / name
        return Found(checkpoints.save(place, RECIPES[name]) if name in RECIPES else architectures.ALL[name](place))

    return cache(make)
