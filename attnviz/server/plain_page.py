"""Simple HTML pages shown instead of the dashboard: server full, not logged in, not allowed."""

import html

from starlette.responses import HTMLResponse

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:15vh auto;padding:0 1rem;color-scheme:light dark;"
    "background:Canvas;color:CanvasText}input,button,a.button{font:inherit;padding:.5rem .75rem;border-radius:8px;"
    "border:1px solid GrayText}button,a.button{background:#4338ca;color:#fff;text-decoration:none;cursor:pointer}"
    "label{display:block;margin:1rem 0 .25rem}.error{border-left:3px solid #c2410c;padding-left:.75rem}"
)


def plain_page(title: str, *parts: str, status: int = 200, retry_after: int = 0) -> HTMLResponse:
    """Return a page with a title and a few parts, which are HTML.

    With `retry_after` it reloads after so many seconds.
    """
    again = f"<meta http-equiv='refresh' content='{retry_after}'>" if retry_after else ""
    text = (
        f"<!doctype html><html lang='en'><meta charset='utf-8'>{again}"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{html.escape(title)} · attnviz</title><style>{_STYLE}</style>"
        f"<main><h1>{html.escape(title)}</h1>{''.join(parts)}</main></html>"
    )
    headers = {"Cache-Control": "no-store"} | ({"Retry-After": str(retry_after)} if retry_after else {})
    return HTMLResponse(text, status, headers)


def paragraph(sentence: str, *, is_error: bool = False) -> str:
    """Return a sentence as an HTML paragraph, escaped."""
    look = " class='error' role='alert'" if is_error else ""
    return f"<p{look}>{html.escape(sentence)}</p>"
