/* A web server small enough for an image that holds nothing else: a process for each connection, answers "hello" on
   $PORT. SERVER_EXIT makes it end at once, SERVER_PORT listen elsewhere; as process 1 it heeds no SIGTERM. */
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char ANSWER[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello";

static void serve(int connection) {
    char text[4096];
    size_t used = 0;
    ssize_t got;
    while ((got = read(connection, text + used, sizeof text - 1 - used)) > 0) {
        char *end;
        used += (size_t)got;
        text[used] = 0;
        while ((end = strstr(text, "\r\n\r\n")) != NULL) {
            size_t rest = used - (size_t)(end + 4 - text);
            if (write(connection, ANSWER, sizeof ANSWER - 1) < 0) exit(0);
            memmove(text, end + 4, rest + 1);
            used = rest;
        }
    }
    exit(0);
}

int main(void) {
    const char *given = getenv("SERVER_PORT") ? getenv("SERVER_PORT") : getenv("PORT");
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    if (getenv("SERVER_EXIT")) {
        fprintf(stderr, "the database is not there\n");
        return 3;
    }
    place.sin_port = htons((unsigned short)atoi(given ? given : "0"));
    signal(SIGCHLD, SIG_IGN);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&place, sizeof place) || listen(listener, 1024)) {
        perror("server");
        return 1;
    }
    fprintf(stderr, "listening on %s\n", given);
    for (;;) {
        int connection = accept(listener, NULL, NULL);
        if (connection >= 0 && fork() == 0) serve(connection);
        if (connection >= 0) close(connection);
    }
}
