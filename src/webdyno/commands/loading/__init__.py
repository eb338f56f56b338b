"""The parts of ``webdyno load``: what is asked, and how it is reported.

targets.py     URLs, weights, a file of requests -> one server and what is asked of it
expecting.py   --expect -> an Expectation
pacing.py      --rate, --stages, --burst ... -> a Load
speaking.py    --tls, --http2, --unix ... -> a Way
watching.py    what is seen while it runs
summary.py     what is said when it is over
table.py       the same as CSV, and as a histogram log
style_*.py     the same in the form of wrk, wrk2, ab or oha; figures.py counts as they do

``session/engine.py`` carries it out, ``session/load_doubts.py`` says why not to trust its figures.
"""
