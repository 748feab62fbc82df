"""The pages for many visitors: settings, turns, limits, headers, telemetry.

The server imports Streamlit and the frame. It computes no picture, and imports no feature.
"""
