/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/list.h"
#include "local/shim/shim_internal.h"

enum client_role { CLIENT_NEW, CLIENT_WATCHES, CLIENT_RUNS, CLIENT_ATTACHED, CLIENT_ENDING };

/* A connection to the socket of the pod. */
struct client {
    struct list_link in_shim, in_container;
    struct shim *shim;
    int fd;
    enum client_role role;
    struct loop_watch watch;
    struct writer out;
    struct exec_session *session;  // of one that runs a command
    struct container *container;   // of one that is attached
    bool wants_stdin, wants_stdout, wants_stderr;
    bool is_paused;
};

/* Output of the container that a client is attached to. One that does not keep up is disconnected. */
void client_attached_output(struct client *client, enum log_stream stream, const char *bytes, size_t len);

/* The container has ended. */
void client_attached_end(struct client *client);

/* Stops and starts to read what the client sends. */
void client_pause(struct client *client, bool is_paused);
