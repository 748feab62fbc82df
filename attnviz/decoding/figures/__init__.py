"""Charts and tables of Decoding, drawn with Plotly or as HTML."""
