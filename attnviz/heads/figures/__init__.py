"""The heatmap and the links as figures for paper. Plotly is used here."""
