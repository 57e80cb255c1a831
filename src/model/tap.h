/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/macros.h"
#include "model/delta.h"

/*
 * Deltas as values: whoever wants to know what a state was told hangs a tap on it (state_set_tap), and a delta that was
 * seen can be told to another state (state_apply). A state that was told the same deltas is the same.
 */
enum delta_kind {
    DELTA_PUT_NODE,
    DELTA_PUT_QUEUE,
    DELTA_PUT_GANG,
    DELTA_PUT_POD,
    DELTA_PUT_TOPOLOGY,
    DELTA_PUT_PRIORITY_CLASS,
    DELTA_PUT_DEVICE_CLASS,
    DELTA_PUT_SLICE,
    DELTA_PUT_CLAIM,
    DELTA_PUT_VOLUME,
    DELTA_PUT_CONFIG_MAP,
    DELTA_DROP_NODE,
    DELTA_DROP_QUEUE,
    DELTA_DROP_GANG,
    DELTA_DROP_POD,
    DELTA_DROP_TOPOLOGY,
    DELTA_DROP_PRIORITY_CLASS,
    DELTA_DROP_DEVICE_CLASS,
    DELTA_DROP_SLICE,
    DELTA_DROP_CLAIM,
    DELTA_DROP_VOLUME,
    DELTA_DROP_CONFIG_MAP,
    DELTA_SET_USAGE,
    DELTA_MOVE_POD,
    DELTA_SET_GANG_TIMES,
    /* Journals say a kind by its number: those that came later come last. */
    DELTA_PUT_STORAGE,
    DELTA_DROP_STORAGE,
    _DELTA_KIND_MAX
};

/* What is told of an object by its name alone. */
struct name_spec {
    const char *namespace;  // NULL or "": none
    const char *name;
};

struct priority_class_spec {
    const char *name;
    int32_t value;
    bool is_default;
};

struct usage_spec {
    const char *queue;
    double usage[SHARE_COUNT];
};

/* A shared GPU by its name or, where it has none yet, by its number. */
struct gpu_group_spec {
    const char *name;  // NULL or "": none
    uint64_t number;
};

struct pod_move_spec {
    const char *namespace;
    const char *name;
    enum pod_status status;
    const char *node;  // NULL or "": none
    const struct gpu_group_spec *groups;
    size_t group_count;
};

struct gang_times_spec {
    const char *namespace;
    const char *name;
    nsec_t last_start;
    nsec_t last_eviction;
    nsec_t stale_since;
};

/* One delta. What `spec` points to is of the kind's type: node_spec, ..., name_spec for drops and config maps. */
struct delta {
    enum delta_kind kind;
    const void *spec;
};

/* Both are borrowed for the call, which must not change the state. */
typedef void (*delta_fn)(void *arg, const struct delta *delta);

struct delta_tap {
    delta_fn fn;  // NULL: nobody listens
    void *arg;
};

/*
 * From now on `fn` is called with each delta that is accepted; NULL ends that. What a cycle does to the state is no
 * delta, but for what it says of itself through them: stale gangs are marked, promises taken back.
 */
void state_set_tap(struct state *state, delta_fn fn, void *arg);

/* Tells the state. Moves and times of what is not there are nothing. */
MUST_CHECK int state_apply(struct state *state, const struct delta *delta, struct err *err);
