"""Whatever bytes come in, a reader gives a value or says what it foresees, soon, and with what it promises."""
