"""Days as they are said on a page."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st


def day(seconds: float) -> str:
    """A time, in seconds since 1970, as a day where the visitor is: "6 December 2026"."""
    try:
        zone = ZoneInfo(st.context.timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        zone = UTC
    at = datetime.fromtimestamp(seconds, zone)
    return f"{at.day} {at:%B %Y}"
