"""Classes: members, answers, right answers, and the database that stores them.

Classes import lessons, but no model and no picture; Streamlit is only in `page/`.
"""
