# What puma has no flag for; the rest is in its command.
persistent_timeout 60 # 20 s unless told
