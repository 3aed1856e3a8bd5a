"""Messages that come in through channels: received one poll after the other, answered in the chat they came from.

Only what the owner writes has an effect. `queue` is on disk, so that a message is handled once whenever the program is
stopped; `response` is the work on one message; `messages` is the client of the pool. `group_talk` is what others have
said in a group, for a run there.
"""
