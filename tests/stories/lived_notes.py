"""A vault that its person and the agent have lived in: notes of both, in English and Chinese, for what comes up."""

from collections.abc import Mapping

NOTES: Mapping[str, str] = {
    "garden/Beehives.md": "# Beehives\n\nTwo hives by the quince. Varroa treatment with oxalic acid on 20 December.\n"
    "Queen of the left hive marked blue, she is from Petra.\n\n- feed syrup until the end of September\n",
    "garden/Greenhouse.md": "# Greenhouse\n\nThe heater broke in the storm. Petra's brother can weld the frame.\n"
    "Glass: eleven panes of 60 by 140, the shop in Ferrow street has them for 23 euros each.\n",
    "house/Plumber.md": "# Plumber\n\nOffer of Ilves: 1,900 euros, new pipes in copper, four days.\n"
    "Offer of Kask & Son: 1,450 euros, plastic, two days. Ilves repaired the pump at my mother's, very clean.\n",
    "house/Heat pump.md": "---\naliases: [Nordvik 7]\n---\n# Heat pump\n\nServiced each May by Tamm. "
    "Error E7: rinse the filter.\n",
    "people/Ottilie.md": "# Ottilie\n\nMy aunt in Tartu, 81. Cannot climb stairs, loves opera. Train is "
    "better than bus.\n",
    "people/Bram.md": "# Bram\n\nColleague. Lent me the drill on 3 October. No coriander, no pork.\n",
    "work/Budget 2027.md": "# Budget 2027\n\nTravel 14,000, training 6,500, two laptops. Helve has to "
    "sign before 15 December.\n",
    "work/Handover.md": "# Handover\n\nThe archive moves to the second floor; keys are with Helve. "
    "Deadline is in week 50.\n",
    "talks/2025-10-04.md": "# Talk with Ottilie\n\nShe sold the summer house to the Lepiks and keeps the boat shed.\n",
    "talks/2026-02-11.md": "# Talk with Ottilie\n\nShe wants the piano to go to Bram's daughter.\n",
    "厨房/红烧牛腩.md": "# 红烧牛腩\n\n牛腩两斤，先焯水。老陈皮一片，炖一个半小时。外婆那边只放半勺盐。\n",
    "家/装修.md": "# 装修\n\n老周报价四万二，工期三十天，包水电。小马报价三万六，不包水电，工期二十天。"
    "\n老周给隔壁做过，邻居满意。\n",
    "家/车.md": "# 车\n\n车险十二月九号到期，保单在书房第二个抽屉。冬胎在车库架子上。\n",
    "家/外婆.md": "# 外婆\n\n八十四岁，住三楼没电梯，膝盖不好。每周三上午复查，要带医保卡。\n",
    "工作/搬迁.md": "# 搬迁\n\n机房十二月搬到二楼，钥匙在何工那里。网线要提前两周报给物业。\n",
    "工作/年会.md": "# 年会\n\n定在锦江厅，六桌，预算一万八。主持人是小林，她对花粉过敏。\n",
    "旅行/青岛.md": "# 青岛\n\n民宿叫海角七号，老板姓郭，可以带狗。从车站坐三二一路。\n",
}
AGENTS: Mapping[str, str] = {
    "sessions/2026/11/2026-11-02 Which plumber.md": "---\ntype: session\n---\n# Which plumber\n\nAsked "
    "about plumber, "
    "beehives, heat pump, Ottilie, budget and greenhouse: I would take Kask & Son.\n",
    "entries/2026/11/2026-11-02-trace.md": "---\ntype: workflow_trace\nscope: user\nsource: capture\n"
    "created: 2026-11-02T10:00:00Z\n---\nTask: compare the plumber offers, the beehives and the heat "
    "pump. Tools: vault_read\n",
    "entries/2026/11/2026-11-03-summary.md": "---\ntype: auto_capture\nscope: user\nsource: capture\n"
    "created: 2026-11-03T10:00:00Z\n---\nI told the person about Ottilie, the budget, the greenhouse "
    "and 装修 年会 外婆 车险.\n",
    "jobs/plumber.md": '---\ntype: job\nstatus: paused\non: {cron: "0 9 * * *"}\n---\nRemind of the '
    "plumber, budget and 年会 车险.\n",
    "reflections/2026-11/one.md": "---\ntype: reflection\n---\nThe task about the plumber, beehives and "
    "装修 went well.\n",
    "About garden.md": "---\ntype: about\n---\n# About garden\n\nWrite here of beehives, greenhouse, "
    "plumber; 外婆 和 装修.\n",
    "Templates/person.md": "# Ottilie, plumber, beehives, 外婆\n\nName: \nBirthday: \n",
    "AGENT.md": "---\ntype: agent\n---\n# Who the agent is here\n\nBe brief about plumber, budget, "
    "beehives, 外婆 and 年会.\n",
    "tasks/plumber.md": "---\ntype: task\nstatus: done\n---\nCompare the plumber and 装修 again.\n",
}
ORDINARY: tuple[tuple[str, str], ...] = (
    ("Which plumber should I take? Think of everything my notes say, and keep it short.", "house/Plumber.md"),
    ("When is the varroa treatment due for the beehives? I would like a plain answer, with no table and no preamble.",
     "garden/Beehives.md"),
    ("The heat pump shows E7 this morning. What do I do? Take your time and explain each step so that "
    "anybody could follow.",
     "house/Heat pump.md"),
    ("Bram comes for dinner on Friday and so do two others; what can I cook? Put the recipe and a list "
    "into a new note.",
     "people/Bram.md"),
    ("How should Ottilie travel to us at Christmas? Weigh comfort against price, write it as a letter, not too long.",
     "people/Ottilie.md"),
    ("装修该找哪一家？把我笔记里写的都考虑进去，钱和时间都算上，最后给一个结论。", "家/装修.md"),
    ("车险什么时候到期？简单说就行，不要表格，也不用解释。", "家/车.md"),
    ("年会的预算还够不够再加一桌？请按条列出来，每条一句话，语气正式一些。", "工作/年会.md"),
    ("周三陪外婆去医院要带什么？帮我写成一张清单，放到一篇新笔记里，字大一点好打印。", "家/外婆.md"),
    ("去青岛住哪里可以带狗？想好再回答，别太长，最后加一句祝福的话。", "旅行/青岛.md"),
)  # fmt: skip
"""Requests with ordinary words behind them, each with the note that has the answer."""
EVERYDAY: tuple[str, ...] = (
    "Which plumber should I take?",
    "What did I write about the greenhouse?",
    "Draft a mail to Helve about the budget",
    "What is still open for the handover?",
    "Prepare my visit to Ottilie",
    "Remind me what the heat pump needs",
    "What do I know about my beehives?",
    "Compare the two offers for the pipes again",
    "装修选谁好？",
    "我的车险快到期了吗？",
    "给何工写一封关于搬迁的邮件",
    "年会还有哪些事没定？",
    "外婆最近要注意什么？",
    "红烧牛腩怎么做才合外婆的口味？",
    "上次比较装修报价的结果是什么？",
    "帮我安排去青岛的行程",
)
"""Everyday requests, of which the agent's notes have more words than the person's."""
GENERAL: tuple[str, ...] = (
    "Write a limerick about a beekeeper and a heat wave",
    "What is the boiling point of ethanol?",
    "How does a heat exchanger work?",
    "Translate into Estonian: \"The budget has been approved.\"",
    "Explain compound interest to a child",
    "How do I reverse a list in Python?",
    "Who painted Guernica?",
    "What is the difference between a hive and a swarm?",
    "Give me five synonyms for reliable",
    "Why do pipes bang at night?",
    "用一句话解释什么是通货膨胀",
    "写一首关于冬天的五言绝句",
    "牛顿第二定律是什么？",
    "把这句话翻译成英文：会议改到二楼。",
    "为什么海水是咸的？",
    "怎么用Excel去掉重复的行？",
    "青铜器是什么时候出现的？",
    "给小朋友讲讲蜜蜂怎么采蜜",
    "电梯是谁发明的？",
    "“保险”这个词的来历是什么？",
)  # fmt: skip
"""Tasks that no note helps with, in words that the notes have."""
