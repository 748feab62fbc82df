"""Charts over many sentences. Plotly is used here."""
