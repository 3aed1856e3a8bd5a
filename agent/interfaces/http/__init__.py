"""The HTTP door: one server with the API and the pages. It translates requests and results, and decides nothing.

Read `operation` (what a route is), then `api.table` (all of them), then `application`. Everything async is in here;
what a route calls is synchronous and goes on in a thread.
"""
