"""Tabs of Masks that are HTML, for the page and for a lesson's folder. They know no Streamlit."""
