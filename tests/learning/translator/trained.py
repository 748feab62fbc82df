"""A translator that was really trained for a few steps, and watched meanwhile: the file that `--watch` leaves."""

import gzip
import json
import tempfile
from dataclasses import asdict
from functools import cache
from pathlib import Path

from attnviz.training.__main__ import main
from attnviz.training.recipe import Recipe

STEPS = (0, 2, 4, 6)
SENTENCES = (
    ("The red dog.", "Le chien rouge.", "红狗。"),
    ("The big cat sleeps.", "Le grand chat dort.", "大猫睡觉。"),
    ("The old house.", "La vieille maison.", "老房子。"),
    ("A small pond.", "Un petit étang.", "小池塘。"),
)
UNSEEN = 3  # which of them training never sees


@cache
def content() -> bytes:
    """Return the recording, as a file has it."""
    recipe = Recipe(
        languages={"fr": 1, "zh": 1}, vocab_size=110, d_model=24, n_heads=3, n_layers=2, d_ff=16, steps=STEPS[-1],
        batch_tokens=150, warmup=3,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for at, to in enumerate(recipe.languages, start=1):
            pairs = [f"{line[0]}\t{line[at]}\n" for i, line in enumerate(SENTENCES) if i != UNSEEN]
            for split in ("train", "dev"):
                with gzip.open(folder / f"en-{to}.{split}.tsv.gz", "wt", encoding="utf-8") as file:
                    file.writelines(pairs)
        table = folder / "watched.tsv"
        table.write_text("en\tfr\tzh\n" + "\n".join(map("\t".join, SENTENCES)), encoding="utf-8")
        arguments = ["--data", name, "--state", f"{name}/state", "--recipe", json.dumps(asdict(recipe))]
        assert main([*arguments, "--device", "cpu", "--threads", "1", "--every", "2", "--dev", "1", "--watch",
                     str(table)]) == 0  # fmt: skip
        return (folder / "state" / "recording.npz").read_bytes()
