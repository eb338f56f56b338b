"""A tryout, which ``webdyno try`` asks for: what carries it out, in the order in which it happens.

    task.py        what is to be tried, and what is asked of it; schema.py: the GET routes of the app's own schema
    steps.py       from the application to the answer; sitting.py is what they have at hand
    resuming.py    a tryout that was stopped; asked.py: what it was asked and found; sources.py: its files
    journal.py     Runs as they come, and those of an earlier sitting
    envfile.py     the file of variables
    interpreter.py whose Python the project's is; inspect_app.py is what that Python is asked to say
    project.py     the user's project, as it is: folder, environment, application
    fitting.py     the catalogue's servers that can serve it, and the settings to vary; servers.py builds them
    command.py     servers given as a command line: --current and --cmd
    image.py       --image: container images, run by an engine
    budget.py      what has to fit into the time
    first.py       the first answers, before anything is measured
    bench.py       where settings are measured
    screening.py   who comes into the last comparison: rungs.py measures, settling.py learns how long a warm-up is
    final.py       the last comparison, in rounds
    evidence.py    from what was measured to what is said and kept
    limit.py       is it the app that is slow? profile.py asks py-spy
    answer.py      who, by how much; told.py: all there is to say
    copying.py     the command line, the unit (systemd.py), the Procfile; installing.py: how to have its server
    by_url.py      a server that runs already

Nothing of the user's project is written.
"""
