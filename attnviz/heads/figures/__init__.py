"""The heatmap and the links as Plotly figures, for print."""
