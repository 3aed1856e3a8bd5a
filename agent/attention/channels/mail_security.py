"""How the connections to mail servers are encrypted, and what is said when they cannot be: never is plain text spoken
in place of TLS."""

import ssl

from agent.config.channel_settings import MailSettings
from agent.errors import AgentError, Permanent, Retryable
from agent.llm.endpoint import is_this_machine

_SUBMISSION, _SMTP_TLS = 587, 465
_IMAP, _IMAP_TLS = 143, 993
_PLAIN = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "UNKNOWN_PROTOCOL"})
"""What the library says when the other side does not speak TLS at all."""
_WRONG_NAME = 62, 64
"""OpenSSL's codes for a certificate of another host, and of another address."""


def port_of(settings: MailSettings) -> int:
    """The port of the server that takes mail."""
    return settings.port or (_SMTP_TLS if settings.security == "tls" else _SUBMISSION)


def security_of(settings: MailSettings) -> str:
    """The security with which mail is sent: `tls`, `starttls` or `none`."""
    if settings.security != "auto":
        return settings.security
    if port_of(settings) == _SMTP_TLS:
        return "tls"
    return "none" if is_this_machine(settings.host) else "starttls"


def imap_port_of(settings: MailSettings) -> int:
    """The port of the server that mail is read from."""
    return settings.imap_port or (_IMAP if settings.imap_security == "starttls" else _IMAP_TLS)


def imap_security_of(settings: MailSettings) -> str:
    """The security with which mail is read: `tls`, `starttls` or `none`."""
    if settings.imap_security != "auto":
        return settings.imap_security
    port = imap_port_of(settings)
    if port != _IMAP_TLS and is_this_machine(settings.imap_host):
        return "none"
    return "starttls" if port == _IMAP else "tls"


def encryption_failure(error: ssl.SSLError, place: str, host_setting: str) -> AgentError:
    """The error for TLS that failed at a place; `host_setting` is the setting with the server's name."""
    security = host_setting.replace("host", "security")
    if isinstance(error, ssl.SSLCertVerificationError):
        hint = (
            "the certificate is for another name: check {host}"
            if error.verify_code in _WRONG_NAME
            else "if it is your own server, name its certificate authority in the variable SSL_CERT_FILE"
        )
        return Permanent("{place} cannot be trusted: {why}", hint=hint, place=place, why=_why(error), host=host_setting)
    if error.reason in _PLAIN:
        return Permanent(
            "{place} does not encrypt from the first byte",
            hint="does it encrypt after the first words? vault-agent config set {setting} starttls",
            place=place,
            setting=security,
        )
    return Retryable(
        "{place} cannot be reached: {why}",
        delay=60.0,
        hint="is TLS spoken there? check {host} and {setting}",
        place=place,
        why=_why(error),
        host=host_setting,
        setting=security,
    )


def no_encryption(place: str, setting: str) -> Permanent:
    """The error for a server that does not offer to encrypt after its first words."""
    return Permanent(
        "{place} offers no encryption",
        hint="does the server encrypt from the first byte? vault-agent config set {setting} tls",
        place=place,
        setting=setting,
    )


def _why(error: ssl.SSLError) -> str:
    """The library's own words, in one line."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message
    return (error.reason or "TLS").replace("_", " ").lower()
