"""Classes: members, answers, what is right, and the database that keeps them.

A class knows lessons. It knows no model and no picture; Streamlit is only in `page/`.
"""
