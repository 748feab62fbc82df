"""The picture Links: attention as lines between words."""

from attnviz.kit.picture import Picture

PICTURE = Picture(
    name="links", title="Links", position=20, state="attnviz.heads.links.links:LinksState",
    subject_of="attnviz.heads.links.links:links_of", draws_every_map=True, rules="attnviz.heads.links.links:LinksRules",
    python_only=("kind",),
    example_choice=(".squares button", "Enter"),
)  # fmt: skip
