"""Functions that turn a trace and a page's state into the data of a picture. They do not import Streamlit."""
