"""The person's calendars, read only: fetched from files, addresses and CalDAV servers, kept in the cache, and read by a
process of its own, since a calendar is made by strangers.

It must not write to a calendar, and not decide what is told of it. The libraries are loaded in that process only.
"""
