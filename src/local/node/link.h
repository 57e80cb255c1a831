/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/macros.h"
#include "base/time.h"
#include "net/loop.h"
#include "net/watch.h"

struct shims;

/*
 * The connection to the process beside a pod (local/shim/shim.h). One that does not run is started; one that runs already
 * is found by its socket. Only its lock says that there is none: a process that takes it finds everything in the folder.
 */
struct pod_link {
    struct loop *loop;
    char *folder;
    struct shims *shims;
    int fd;              // -1: not connected
    nsec_t expected_by;  // a process was asked for, and holds the lock by then
    nsec_t pause;        // before the next try
    nsec_t grace;        // of a stop that is to be told; negative: none
    int64_t deadline;    // seconds that the pod may run; 0: none
    bool is_over;        // the pod has ended: its status is final
    struct loop_watch watch;
    struct loop_timer retry;
    void (*on_change)(void *arg);  // status.json has changed
    void (*on_event)(void *arg, const char *type, const char *reason, const char *message);
    void *arg;
};

void pod_link_open(struct pod_link *link, struct loop *loop, struct shims *shims, const char *folder);
void pod_link_close(struct pod_link *link);  // the pod goes on

/* Ends the pod within a time. */
void pod_link_stop(struct pod_link *link, nsec_t grace);

/* The pod may run for so many seconds since its start; 0: for ever. Said again when it is another number. */
void pod_link_deadline(struct pod_link *link, int64_t seconds);

/* status.json; to be freed with yyjson_doc_free(). NULL when there is none yet. */
yyjson_doc *pod_link_status(const struct pod_link *link);
