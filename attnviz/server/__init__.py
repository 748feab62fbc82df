"""The pages for many visitors: settings, turns, limits, headers, telemetry.

The server knows Streamlit and the frame. It computes no picture, and knows no feature.
"""
