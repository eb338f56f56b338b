#!/bin/sh
# serve.sh HOST PORT THREADS: H2O with hello as a file. It can be told a port only by its configuration, so that is
# written here; HOME is a folder made for this server alone.
set -eu
cat > "$HOME/h2o.conf" << END
listen:
  host: $1
  port: $2
user: $(id -un) # as root it would look for nobody else
num-threads: $3
tcp-fastopen: 0
max-connections: $(($(ulimit -n) / 2))
http1-request-timeout: 60 # 10 s unless told, also between two requests
file.index: [hello.txt]
file.mime.setdefaulttype: text/plain
file.send-gzip: OFF
hosts:
  default:
    paths:
      /:
        file.dir: $PWD/www
END
exec h2o -m worker -c "$HOME/h2o.conf"
