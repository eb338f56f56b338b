#!/bin/sh
# serve.sh BIND WORKERS: nginx with hello written into its configuration. It can be told a port only there, so the
# configuration is written here; HOME is a folder made for this server alone.
set -eu
mkdir "$HOME/logs"
cat > "$HOME/nginx.conf" << END
daemon off;
pid nginx.pid;
error_log stderr;
worker_processes $2;
worker_rlimit_nofile $(ulimit -n);
events {
    worker_connections $(($(ulimit -n) / 2));
}
http {
    access_log off;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    keepalive_timeout 65s;
    keepalive_requests 1000000; # else it closes each connection after 1000
    server {
        listen $1 backlog=4096;
        location = / {
            default_type text/plain;
            return 200 "Hello, World!";
        }
    }
}
END
exec nginx -p "$HOME" -e stderr -c nginx.conf
