"""Attention: whether the person hears of something now, later, or not, and through which channel.

Rules, receipts and channels. No run is started here, and nothing here decides what is worth a notice.
"""
