"""Sequential tests of success rates, with stated error rates: one rate, two rates, a rate that drops. Pure.

`rate` judges one rate against a threshold, `pair` two that are used in turn, `drop` watches one that was good;
`walk` computes what each test does with rates that are given. Who acts on a verdict, and how, is not decided here.
"""
