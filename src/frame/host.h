/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/macros.h"

struct err;
struct service;
struct service_kind;

/*
 * Services that another service starts and ends while the process runs: the host. A hosted service has flags of its own,
 * the client and the watches of the process, and figures with the label `app`. It has no Lease: its host leads. Flags for
 * addresses and for the log are taken and change nothing, because these belong to the process; /readyz does not ask
 * hosted services either, so that the host decides what it takes to be ready.
 *
 * When the process stops, hosted services stop with it, and the host's Lease is given back after those that act for it
 * have stopped. One that fails ends the process, as every service does.
 */
struct host_options {
    const char *kind;  // the name of one of the kinds that the process may host
    const char *name;  // in figures and logs
    const char *const *argv;
    size_t argc;
    /* It has become ready, or is not ready any more. */
    void (*on_ready)(void *arg, bool is_ready);
    /* It has ended after host_end() and is gone. Not called when the process stops. */
    void (*on_over)(void *arg);
    void *arg;
};

/* Starts a service. All that is passed in is copied. Returns 0, or a negative errno with the reason: then there is none. */
MUST_CHECK int host_start(struct service *host, const struct host_options *options, struct service **ret_service,
                          struct err *err);

/* Tells it to stop; on_over follows, from the loop. To be called once. */
void host_end(struct service *hosted);
