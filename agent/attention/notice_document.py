"""A notice as a document for JSON, the same for every interface."""

from collections.abc import Mapping

from agent.attention.receipt import NoticeReceipt


def notice_document(receipt: NoticeReceipt, others: Mapping[str, NoticeReceipt]) -> dict[str, object]:
    """A notice for JSON; what a digest lists was brought by the digest's channel."""
    brought = others.get(receipt.digest, receipt)
    return {
        "id": receipt.id,
        "at": receipt.at.isoformat(),
        "type": receipt.raised.type,
        "priority": receipt.raised.priority,
        "decision": receipt.decision.decided,
        "rule": receipt.decision.rule,
        "channel": brought.channel,
        "proof": brought.proof or None,
    }
