"""The kit that every picture is built with: state fields, wire format, bundler, shared scripts and styles.

The kit knows traces, maps and analysis. It names no picture, and knows no Streamlit.
"""
