"""Lessons: a Markdown file becomes steps and questions, their right answers, and scores.

A lesson refers to pictures by their links. Nothing here imports a class; Streamlit is only in `page/`.
"""
