"""The picture Switches: a board of all heads, each with what the model loses without the head."""

from attnviz.kit.picture import Picture, model_and_trace

PICTURE = Picture(
    name="switches", title="Switch off", position=110, page="Causes", tab="switch-off", terms=("Heads", "Causes"),
    state="attnviz.causes.switches.switches:SwitchOffState", subject_of="attnviz.causes.switches.switches:switches_of",
    python_only=("off", "put", "measure", "count"), example=model_and_trace,
    tab_drawn_by="attnviz.causes.page.switch_off:draw",
    example_choice=(".board button", "Enter"),
)  # fmt: skip
