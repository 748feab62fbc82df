"""Metrics as two bytes a number, read back as the browser reads them."""

import math

import numpy as np
import pandas as pd

from attnviz.heads.payload import metric_columns
from attnviz.kit.wire import Blobs
from tests.each_case import each_case

LAYERS, HEADS = 2, 3


def table(**columns) -> pd.DataFrame:
    sites = [("cross", layer, head) for layer in range(LAYERS) for head in range(HEADS)]
    return pd.DataFrame(sites, columns=["kind", "layer", "head"]).assign(**columns)


def read_back(metrics: pd.DataFrame, kind: str = "cross") -> dict:
    """Metric -> its values."""
    blobs = Blobs()
    told = metric_columns(metrics, dict.fromkeys(metrics["kind"]), blobs)
    names, at = [name for name, _ in told["names"]], told["offsets"][kind]
    heads = int((metrics["kind"] == kind).sum())
    ranges = np.frombuffer(blobs.join(), "<f4", 2 * len(names), at).reshape(len(names), 2)
    codes = np.frombuffer(blobs.join(), "<u2", heads * len(names), at + ranges.nbytes).reshape(len(names), heads)
    values = ranges[:, :1] + codes / 65534 * (ranges[:, 1:] - ranges[:, :1])
    return dict(zip(names, np.where(codes == 65535, np.nan, values), strict=True))


def test_metrics_follow_layers_and_then_heads_and_nan_is_no_number():
    metrics = table(entropy=range(LAYERS * HEADS), eos_mass=math.nan)
    values = read_back(metrics.sample(frac=1, random_state=1))
    np.testing.assert_allclose(values["entropy"], range(LAYERS * HEADS), atol=1e-4)
    assert np.isnan(values["eos_mass"]).all()


def test_each_kind_has_its_own_numbers():
    both = pd.concat([table(entropy=range(6)), table(entropy=range(10, 16)).assign(kind="encoder_self")])
    np.testing.assert_allclose(read_back(both, "cross")["entropy"], range(6), atol=1e-4)
    np.testing.assert_allclose(read_back(both, "encoder_self")["entropy"], range(10, 16), atol=1e-4)


@each_case(
    "column",
    [
        [3.0] * 6,
        [math.nan, 2.0, -7.5, 2.0, 1e-4, 0.0],
        [0, 255.5, 1, 2, 3, 254.9],
        [math.inf] * 6,
        [0.1, math.inf, 0.2, -math.inf, 0.3, 0.4],
    ],
)
def test_a_number_is_off_by_far_less_than_what_is_shown_of_it(column):
    values = read_back(table(entropy=column))["entropy"]
    finite = np.isfinite(column)
    assert (np.isnan(values) == ~finite).all()
    size = np.ptp(np.array(column)[finite]) if finite.any() else 0
    np.testing.assert_allclose(values[finite], np.array(column)[finite], atol=size / 131068 + 1e-6)


def test_the_order_of_heads_is_kept_and_equal_numbers_stay_equal():
    column = np.random.default_rng(0).permutation([0.25, 0.25, 0.2501, 0.7, 1.0, 0.0])
    values = read_back(table(entropy=column))["entropy"]
    assert (np.argsort(values, kind="stable") == np.argsort(column, kind="stable")).all()
