"""Charts and matrices of Masks, drawn with Plotly or as HTML."""
