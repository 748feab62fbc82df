"""Tabs of Masks that consist of HTML, for the page and for lesson folders. They do not import Streamlit."""
