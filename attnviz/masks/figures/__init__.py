"""Charts and matrices of Masks. Plotly is used here."""
