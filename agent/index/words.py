"""Word lists for `analysis`: words too common to search for, and irregular English forms."""

_STOP_WORDS = """
a about above after again all also am an and any are aren as at be because been before being below between both but
by can cannot could couldn d did didn do does doesn doing don done down during each few for from further had hadn
has hasn have haven having he her here hers herself him himself his how i if in into is isn it its itself just let
ll m me more most my myself no nor not now of off on once only or other our ours ourselves out over own re s same
shall she should shouldn so some such t than that the their theirs them themselves then there these they this those
through to too under until up us ve very was wasn we were weren what when where which while who whom whose why will
with won would wouldn you your yours yourself yourselves
"""
_CJK_STOP = """
一个 为何 么样 些什 什么 他们 以及 何在 你们 可以 哪个 哪些 哪里 多少
如何 如果 应该 怎么 怎样 我们 或者 是否 能否 请问 这个 这些 那个 那些 需要
"""
_IRREGULAR = """
go went gone goes, buy bought, bring brought, think thought, teach taught, catch caught, find found, make made, take
took taken, give gave given, get got gotten, write wrote written, see saw seen, say said, tell told, meet met, feel
felt, leave left, keep kept, sleep slept, win won, lose lost, run ran, begin began begun, sing sang sung, swim swam
swum, drive drove driven, ride rode ridden, speak spoke spoken, break broke broken, choose chose chosen, grow grew
grown, know knew known, eat ate eaten, fall fell fallen, hear heard, hold held, build built, send sent, spend spent,
sell sold, pay paid, fly flew flown, draw drew drawn, become became, come came, child children, man men, woman
women, person people, foot feet, mouse mice, life lives, wife wives, adopt adoption, receive received,
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Left out of scores; still searched for when a query has no other words."""
CJK_STOP = frozenset(_CJK_STOP.split())
"""Pairs of characters that are interrogative or demonstrative only."""
CJK_STOP_CHARACTERS = frozenset("的了吗呢么吧啊是在和与")
IRREGULAR = {
    form: base for line in _IRREGULAR.split(",") if line.split() for base, *forms in (line.split(),) for form in forms
}
"""The base form of each irregular form."""
