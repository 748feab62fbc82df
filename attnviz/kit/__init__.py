"""The kit from which pictures are built: state fields, wire format, bundler, shared scripts and styles.

It may import traces, maps and analysis, but no picture and not Streamlit.
"""
