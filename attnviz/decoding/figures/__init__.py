"""Charts and tables of Decoding. Plotly is used here."""
