"""The picture Every head: a small map for each head of the whole model."""

from attnviz.kit.picture import Picture

WHOLE_MODEL = Picture(
    name="whole_model", title="Whole model", position=30, tab="model", widget="every_head",
    state="attnviz.heads.every_head.every_head:WholeModelState",
    subject_of="attnviz.heads.every_head.every_head:whole_model_of", draws_every_map=True,
    rules="attnviz.heads.every_head.every_head:EveryHeadRules", python_only=("kind", "row", "open"),
    example_choice=(".head-cell", "Enter"), example_point=".head-cell",
)  # fmt: skip
ONE_ROW = Picture(
    name="one_row", title="One row", position=40, tab="row", widget="every_head",
    state="attnviz.heads.every_head.every_head:OneRowState",
    subject_of="attnviz.heads.every_head.every_head:one_row_of",
    rules="attnviz.heads.every_head.every_head:OneRowRules", python_only=("kind", "row", "open"),
    example_choice=(".head-cell", "Enter"), example_point=".head-cell",
)  # fmt: skip
