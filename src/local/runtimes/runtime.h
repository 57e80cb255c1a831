/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/time.h"

struct loop;

/*
 * How pods run on a node. The agent decides which pods run and writes what becomes of them; a runtime starts and ends
 * them. All callbacks come from the loop, never from within a call.
 */
struct runtime;
struct runtime_pod;

enum runtime_state { RUNTIME_STARTING, RUNTIME_RUNNING, RUNTIME_ENDED };

struct runtime_status {
    enum runtime_state state;
    nsec_t started, ended;  // of the wall clock
    int32_t exit_code;      // when it has ended; 128 + the number of a signal
    const char *reason;     // "Completed", "Error", "OOMKilled"
    uint32_t restarts;
};

struct runtime_request {
    yyjson_val *pod;  // borrowed
    nsec_t started;   // when it was started before we were; 0: it is new
    uint32_t restarts;
    void (*on_change)(void *arg);  // the status has changed
    void *arg;
};

struct runtime_kind {
    const char *name;
    struct runtime *(*open)(struct loop *loop);
    void (*close)(struct runtime *runtime);  // pods have been forgotten

    /* Starts a pod, or takes up one that runs already. Never fails: a pod that cannot start has ended with an error. */
    struct runtime_pod *(*start)(struct runtime *runtime, const struct runtime_request *request);
    void (*status)(const struct runtime_pod *pod, struct runtime_status *ret_status);

    /* Asks it to end, within a time. */
    void (*stop)(struct runtime_pod *pod, nsec_t grace);

    /* Nothing is called back any more. A pod that runs goes on. */
    void (*forget)(struct runtime_pod *pod);
};

/*
 * Pods that are only pretended: they start at once, run for the time in an annotation or until they are stopped, and end
 * as another annotation says.
 */
#define PRETENDED_RUN_TIME "muster.scheduler/pretend-run-time"    // "30s", or "10s-5m": any time between the two
#define PRETENDED_EXIT_CODE "muster.scheduler/pretend-exit-code"  // "0" unless it is there
extern const struct runtime_kind pretended_runtime;
