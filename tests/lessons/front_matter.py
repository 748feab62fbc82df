"""How a lesson's file begins."""

FRONT_MATTER = """---
title: Love
minutes: 10
for: anybody
language: en
---
"""
