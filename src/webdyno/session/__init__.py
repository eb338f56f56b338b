"""What carries Trials out, whoever asks: a command, or a program that imports webdyno."""
