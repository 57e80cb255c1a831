/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * A server in a thread of its own, and blocking clients that write bytes as they like. What a test waits for has 20 s
 * to happen; nothing is measured.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/macros.h"
#include "net/loop.h"
#include "net/rest/rest.h"
#include "net/watch.h"

struct talk {
    struct loop *loop;
    struct http_server *server;
    pthread_t thread;
    uint16_t port;
    int notes[2];  // a pipe: handlers note what happened, one letter each
    int stops[2];  // a pipe: a byte stops the loop
    struct loop_watch stop;
};

static inline void talk_on_stop(void *arg)
{
    loop_stop(((struct talk *)arg)->loop);
}

static inline void *talk_run(void *arg)
{
    loop_run(((struct talk *)arg)->loop);
    return NULL;
}

/* Starts to serve `routes`, whose argument is `arg`. */
static inline void talk_start(struct talk *talk, struct rest_options options, const struct rest_route *routes,
                              size_t count, void *arg)
{
    struct rest_set set = {routes, count, arg};
    struct err err = {0};

    talk->loop = loop_new();
    options.http.address = "127.0.0.1";
    options.sets = &set;
    options.set_count = 1;
    assert_int_equal(pipe(talk->notes) + pipe(talk->stops), 0);
    assert_int_equal(loop_watch_start(&talk->stop, talk->loop, talk->stops[0], talk_on_stop, talk), 0);
    if (rest_server_start(talk->loop, &options, &talk->server, &err) < 0)
        fail_msg("%s", err.text);
    talk->port = http_server_port(talk->server);
    assert_int_equal(pthread_create(&talk->thread, NULL, talk_run, talk), 0);
}

static inline int talk_connect(const struct talk *talk)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(talk->port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct timeval patience = {.tv_sec = 20};

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_true(fd >= 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

/* What comes until the connection ends, or until `until` has been seen. */
static inline const char *talk_receive(int fd, const char *until)
{
    static char text[64 * 1024];
    size_t len = 0;

    while (len < sizeof text - 1) {
        ssize_t got = recv(fd, text + len, sizeof text - 1 - len, 0);

        if (got <= 0)
            break;
        len += (size_t)got;
        text[len] = '\0';
        if (until && strstr(text, until))
            break;
    }
    text[len] = '\0';
    return text;
}

static inline void talk_send(int fd, const char *text)
{
    /* A server that has refused does not read the rest. */
    (void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
}

static inline void talk_send_slowly(int fd, const char *text)
{
    for (; *text; text++)
        assert_int_equal(send(fd, text, 1, MSG_NOSIGNAL), 1);
}

/* Everything that the server answers before it closes. */
static inline const char *talk_ask(const struct talk *talk, const char *request)
{
    int fd = talk_connect(talk);

    talk_send(fd, request);
    const char *text = talk_receive(fd, NULL);
    assert_int_equal(close(fd), 0);
    return text;
}

static inline void talk_expect(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no \"%s\" in \"%s\"", part, text);
}

static inline void talk_note(struct talk *talk, char letter)
{
    assert_int_equal(write(talk->notes[1], &letter, 1), 1);
}

/* Waits for the next note. */
static inline char talk_noted(const struct talk *talk)
{
    char letter = '?';

    assert_int_equal(read(talk->notes[0], &letter, 1), 1);
    return letter;
}

/* Waits for the loop to stop, however that came. */
static inline void talk_join(struct talk *talk)
{
    assert_int_equal(pthread_join(talk->thread, NULL), 0);
    http_server_free(talk->server);
    loop_watch_done(&talk->stop);
    loop_free(talk->loop);
    assert_int_equal(close(talk->notes[0]) + close(talk->notes[1]) + close(talk->stops[0]) + close(talk->stops[1]), 0);
}

static inline void talk_stop(struct talk *talk)
{
    assert_int_equal(write(talk->stops[1], "", 1), 1);
    talk_join(talk);
}
