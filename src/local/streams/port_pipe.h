/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "local/shim/pipes/writer.h"
#include "net/watch.h"

struct loop;

/* A connection to a port of this machine, which is where the ports of processes are. */
struct port_pipe {
    struct loop *loop;
    int fd;
    struct loop_watch watch;
    struct writer out;
    struct strbuf early;  // bytes for the port that came before it was connected
    bool is_connected;
    bool is_ending;  // the client sends no more
    void (*on_bytes)(void *arg, const char *bytes, size_t len);
    void (*on_end)(void *arg, const char *problem);  // nothing comes any more; NULL: the program has closed
    void (*on_taken)(void *arg);                     // all bytes for the port have been taken
    void *arg;
};

/* Connects; the callbacks, which the caller has set, come from the loop and may end the pipe. Returns 0 or a negative errno. */
MUST_CHECK int port_pipe_open(struct port_pipe *pipe, struct loop *loop, uint16_t port);
void port_pipe_done(struct port_pipe *pipe);

/* Bytes for the port; `is_last`: no more will come. Those that the program has not taken yet are in port_pipe_waiting(). */
void port_pipe_write(struct port_pipe *pipe, const char *bytes, size_t len, bool is_last);

size_t port_pipe_waiting(const struct port_pipe *pipe);

/* Lets the program wait, and go on. */
void port_pipe_pause(struct port_pipe *pipe);
MUST_CHECK int port_pipe_resume(struct port_pipe *pipe);  // 0, or a negative errno after which nothing comes
