"""Formatting of days and of the remaining time."""

import html
import math
from collections.abc import Callable
from datetime import UTC, datetime
from time import time as now
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
    """Format a time in seconds since 1970 as a day in the visitor's time zone, such as "6 December 2026"."""
    try:
        zone = ZoneInfo(st.context.timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        zone = UTC
    at = datetime.fromtimestamp(seconds, zone)
    return Translatable("{day} {month} {year}", day=at.day, month=_MONTHS[at.month - 1], year=at.year)


def time_left(ends: float) -> Translatable:
    """Format the time that remains until `ends` (seconds since 1970), such as "1:30 left"."""
    left = math.ceil(ends - now())
    if left <= 0:
        return Translatable("Time is up")
    return Translatable("{minutes}:{seconds} left", minutes=left // 60, seconds=f"{left % 60:02}")


def countdown(ends: float, in_words: Callable[[str], str] = str) -> None:
    """Draw the time that remains until `ends`, translated by `in_words`. Callers draw it again each second."""
    said = html.escape(in_words(time_left(ends)))
    st.html(f"<p class='class-countdown' role='timer'>{said}</p>")
