"""The pictures of the vault as responses: each in a sandbox of its own, a drawing only as a file to be kept."""

from hashlib import sha256
from http import HTTPStatus
from urllib.parse import quote

from starlette.responses import Response

from agent.interfaces.http.pages.page import PageRequest
from agent.interfaces.http.responses import SECURITY_HEADERS
from agent.vault.pictures import Picture, find_picture, load_picture

_HEADERS = {
    **SECURITY_HEADERS,
    "Cache-Control": "private, no-cache",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
}


def find_and_load(request: PageRequest) -> Picture:
    """The picture that an address means: exactly, or as a link in the note `from` of the query would."""
    vault = request.workspace.vault
    return load_picture(vault, find_picture(vault, request.field("from"), request.named["path"]))


def picture_response(picture: Picture, known: str) -> Response:
    """The picture, or that it is still the one whose tag the browser sends along (`known`)."""
    tag = f'"{sha256(picture.data).hexdigest()[:32]}"'
    way = "attachment" if picture.is_drawing else "inline"
    name = quote(picture.path.rpartition("/")[2], safe="", errors="replace")
    headers = {**_HEADERS, "ETag": tag, "Content-Disposition": f"{way}; filename*=UTF-8''{name}"}
    if tag in known:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(picture.data, headers=headers, media_type=picture.media_type)
