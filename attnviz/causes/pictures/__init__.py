"""The pictures of Causes: a trace and a state become a payload. They know no Streamlit."""
