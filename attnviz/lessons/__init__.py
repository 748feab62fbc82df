"""Lessons: a Markdown file becomes steps and questions, their right answers, and scores.

A lesson refers to pictures by their links. This folder imports nothing from `classroom`; Streamlit is only in `page/`.
"""
