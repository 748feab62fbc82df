"""Days as they are said on a page."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from attnviz.lessons.phrases import Translatable

_MONTHS = (
    Translatable("January"), Translatable("February"), Translatable("March"),
    Translatable("April"), Translatable("May"), Translatable("June"),
    Translatable("July"), Translatable("August"), Translatable("September"),
    Translatable("October"), Translatable("November"), Translatable("December"),
)  # fmt: skip


def day(seconds: float) -> Translatable:
    """A time, in seconds since 1970, as a day where the visitor is: "6 December 2026"."""
    try:
        zone = ZoneInfo(st.context.timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        zone = UTC
    at = datetime.fromtimestamp(seconds, zone)
    return Translatable("{day} {month} {year}", day=at.day, month=_MONTHS[at.month - 1], year=at.year)
