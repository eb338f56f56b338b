# What unicorn has no flag for; where to listen is in its command.
worker_processes Integer(ENV.fetch("UNICORN_WORKERS"))
preload_app true
