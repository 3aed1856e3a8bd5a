"""A statement belongs in one note of the profile, by its words; sentences that no list of words was made from."""

from agent.memory.profile.profile_file import note_of

STATED = (
    ("00", "I come from a small town near Lyon."),
    ("01", "I see myself as a craftsman."),
    ("10", "I'm rather impatient in queues."),
    ("11", "Honesty matters most to me."),
    ("12", "I think better when walking."),
    ("20", "I'm good at carpentry."),
    ("20", "I know how to weld."),
    ("21", "I majored in marine biology."),
    ("22", "I hope to run a half marathon in May."),
    ("22", "I'm saving for a boat."),
    ("23", "I enjoy baking sourdough."),
    ("23", "I'm a big fan of jazz."),
    ("30", "I usually wake up at six."),
    ("31", "I can't stand loud music."),
    ("31", "I always want my answers in German."),
    ("32", "I have asthma."),
    ("40", "My brother Paul teaches maths."),
    ("40", "My wife is a member of the choir."),
    ("41", "I run the bakery on Mill Street."),
    ("41", "Our team ships every Friday."),
    ("42", "I volunteer at the food bank."),
    ("50", "I graduated in 2004."),
    ("50", "We moved house when I was nine."),
    ("00", "我是湖南人。"),
    ("10", "我是个急性子。"),
    ("11", "我相信努力比天赋重要。"),
    ("12", "我想问题的时候喜欢走来走去。"),
    ("20", "我会弹钢琴。"),
    ("21", "我大学学的是物理。"),
    ("22", "我打算明年学会游泳。"),
    ("23", "我周末爱好钓鱼。"),
    ("30", "我每天晚上十一点睡觉。"),
    ("31", "我不喝咖啡。"),
    ("32", "我有高血压。"),
    ("40", "我弟弟在北京读书。"),
    ("41", "我在银行上班。"),
    ("41", "我们团队每周五开例会。"),
    ("42", "我是羽毛球俱乐部的会员。"),
    ("50", "我小时候在乡下长大。"),
)
"""The number of the note, and the statement."""


def test_most_statements_find_their_note() -> None:
    wrong = [(number, note_of(words), words) for number, words in STATED if not note_of(words).startswith(number)]
    assert len(wrong) <= len(STATED) // 20, wrong
