"""Files as a browser hands them in: an address asked for over the websocket, the file put there over HTTP."""

import http.client
from collections.abc import Iterable
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import FileURLs, UploadedFileInfo

from tests.websocket.visitor import Visitor

_BORDER = "a-line-between-parts"
_PIECE = 1 << 20


def upload(
    visitor: Visitor, address: str, name: str, content: bytes, *, says: bool = True
) -> tuple[int, UploadedFileInfo]:
    """Return the server's answer to a file, and what a browser then says of it in its uploader's state.

    Without `says` the length stands nowhere: the file is sent in pieces until the server has enough.
    """
    urls = place(visitor, name)
    info = UploadedFileInfo(name=name, size=len(content), file_id=urls.file_id, file_urls=urls)
    return _send(urlsplit(address).netloc, urls.upload_url, _form(name, content), says=says), info


def place(visitor: Visitor, name: str) -> FileURLs:
    """Where a file of that name may be put."""
    message = BackMsg()
    message.file_urls_request.file_names.append(name)
    message.file_urls_request.session_id = visitor.session_id
    (urls,) = visitor.ask(message, "file_urls_response").file_urls
    return urls


def _form(name: str, content: bytes) -> bytes:
    head = f'--{_BORDER}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    return head.encode() + content + f"\r\n--{_BORDER}--\r\n".encode()


def _send(host: str, path: str, body: bytes, *, says: bool) -> int:
    connection = http.client.HTTPConnection(host, timeout=60)
    try:
        headers = xsrf_headers(connection) | {"Content-Type": f"multipart/form-data; boundary={_BORDER}"}
        connection.request("PUT", path, body if says else _pieces(body), headers, encode_chunked=not says)
        return connection.getresponse().status
    except (BrokenPipeError, ConnectionResetError):  # it answered before everything was sent
        return connection.getresponse().status
    finally:
        connection.close()


def _pieces(body: bytes) -> Iterable[bytes]:
    return (body[start : start + _PIECE] for start in range(0, len(body), _PIECE))


def xsrf_headers(connection: http.client.HTTPConnection) -> dict[str, str]:
    """Streamlit's token against requests from other sites, as a browser gets it and gives it back."""
    connection.request("GET", "/_stcore/health")
    answer = connection.getresponse()
    answer.read()
    cookie = (answer.getheader("Set-Cookie") or "").partition(";")[0]
    return {"Cookie": cookie, "X-Xsrftoken": cookie.partition("=")[2]}
