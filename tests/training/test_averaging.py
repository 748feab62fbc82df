"""The average of models: by their shares, of the same sizes and tokenizer, and what is wrong is said in a sentence."""

import shutil

import pytest
import torch

from attnviz.models.catalogue import translator
from attnviz.training import averaging
from attnviz.transformer import checkpoint
from attnviz.transformer.config import ModelConfig
from attnviz.transformer.transformer import Transformer


def _model(seed: int, d_ff: int = 7) -> Transformer:
    return Transformer(ModelConfig(11, 6, 2, 1, d_ff)).initialise(seed)


def test_every_parameter_is_the_mean_by_shares():
    states = [{name: tensor.clone() for name, tensor in _model(seed).state_dict().items()} for seed in (1, 2)]
    mean = averaging.average([_model(1), _model(2)], [1, 3]).state_dict()
    assert mean.keys() == states[0].keys()
    for name, tensor in mean.items():
        torch.testing.assert_close(tensor, states[0][name] * 0.25 + states[1][name] * 0.75)


@pytest.mark.parametrize("weights", [[0, 0], [2, -1]])
def test_weights_that_make_no_average_are_refused(weights):
    with pytest.raises(ValueError, match="positive numbers"):
        averaging.average([_model(1), _model(2)], weights)


def test_models_of_other_sizes_are_refused():
    with pytest.raises(ValueError, match="same sizes"):
        averaging.average([_model(1), _model(2, d_ff=5)], [1, 1])


def _folder(parent, name, seed):
    checkpoint.save(_model(seed), parent / name)
    (parent / name / "tokenizer.json").write_text("{}")
    return parent / name


def test_the_command_writes_a_model_that_can_be_loaded(tmp_path, capsys):
    one, two = _folder(tmp_path, "one", 1), _folder(tmp_path, "two", 2)
    parts = ["--part", str(one), "1", "--part", str(two), "0.5"]
    assert averaging.main(["--out", str(tmp_path / "out"), *parts]) == 0
    assert capsys.readouterr().out == "1 x one + 0.5 x two\n"
    expected = averaging.average([checkpoint.load(one), checkpoint.load(two)], [2, 1])
    for name, tensor in checkpoint.load(tmp_path / "out").state_dict().items():
        torch.testing.assert_close(tensor, expected.state_dict()[name], atol=1e-3, rtol=1e-3)  # float16 on disk


def test_the_average_of_a_model_with_itself_translates_as_it_does(tmp_path):
    shipped = translator(device="cpu", dtype="float32")
    parts = ["--part", str(shipped.folder), "1", "--part", str(shipped.folder), "2"]
    assert averaging.main(["--out", str(tmp_path), *parts]) == 0
    again = type(shipped).load(tmp_path, device=torch.device("cpu"), dtype=torch.float32)
    assert again.translate("I love you.", to="fr") == shipped.translate("I love you.", to="fr")


def test_another_tokenizer_is_refused_and_what_is_missing_is_named(tmp_path, capsys):
    one, two = _folder(tmp_path, "one", 1), _folder(tmp_path, "two", 2)
    (two / "tokenizer.json").write_text("[]")
    asked = ["--out", str(tmp_path / "out"), "--part", str(one), "1", "--part", str(two)]
    assert averaging.main([*asked, "1"]) == 2
    assert "same tokenizer" in capsys.readouterr().err
    assert averaging.main([*asked, "much"]) == 2
    assert "much" in capsys.readouterr().err
    shutil.rmtree(two)
    assert averaging.main([*asked, "1"]) == 2
    error = capsys.readouterr().err
    assert "tokenizer.json" in error
    assert len(error.splitlines()) == 1
