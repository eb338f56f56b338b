"""What ``webdyno try`` is made of, in the order in which it happens.

    flags.py       what can be typed
    envfile.py     the file of variables
    interpreter.py whose Python the project's is; inspect_app.py is what that Python is asked to say
    project.py     the user's project, as it is: folder, environment, application
    asking.py      what is asked of it: paths with weights, or the GET routes of its own schema
    fitting.py     the catalogue's servers that can serve it, and the settings to vary
    command.py     servers given as a command line: --current and --cmd
    image.py       --image: container images, run by an engine
    bench.py       one measurement of one setting
    first.py       the first answers, before anything is measured
    final.py       the last comparison, in rounds
    limit.py       is it the app that is slow? profile.py asks py-spy
    answer.py      what is said; copying.py: the command line, the unit, the Procfile to copy
    running.py     --url: a server that runs already

Nothing of the user's project is written.
"""
