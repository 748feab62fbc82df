"""Charts of a class's answers. Plotly is used here."""
