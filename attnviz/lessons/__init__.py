"""Lessons: a Markdown file becomes steps and questions, their right answers, and scores.

A lesson knows pictures by their links. It knows no class; Streamlit is only in `page/`.
"""
