/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/time.h"
#include "engine/config.h"
#include "engine/engine.h"
#include "journal/wire.h"
#include "model/tap.h"

/*
 * The form of records that are written. Those of all forms before it are read as well, so that a journal outlives the version
 * that wrote it:
 *
 *     1   the first
 *     2   nodes are for CPU or for GPU workers
 *     3   device classes have a driver and serve a resource, pods have claims for it
 *     4   devices have attributes, capacity and counters, claims have requests; a third placement strategy
 *     5   claims share devices by capacity, attributes may be lists, tolerations end
 *     6   volumes have drivers and classes, nodes limits on them; where there is room for new ones
 */
enum { RECORD_FORM = 7 };

/*
 * What a journal consists of: the settings, deltas, and cycles with what went into the engine and what came out. Everything
 * is said by name, since ids are those of one state.
 */
enum record_kind { RECORD_CONFIG, RECORD_DELTA, RECORD_CYCLE, _RECORD_KIND_MAX };

struct record_decision {
    enum action action;
    enum decision_kind kind;
    const char *namespace;
    const char *pod;
    const char *node;  // NULL: none
    const char *for_namespace;
    const char *for_gang;  // NULL: none
};

/* The verdict of a gang that is another one than in the cycle before. */
struct record_verdict {
    const char *namespace;
    const char *gang;
    enum verdict_code code;
};

struct record_cycle {
    uint64_t number;
    nsec_t now;
    uint64_t fresh_groups;    // shared GPUs opened before it
    const uint64_t *actions;  // that ran, in order
    size_t action_count;
    const uint64_t *stops;  // which of the questions whether to end a search were answered by yes
    size_t stop_count;
    uint64_t placements;  // simulated
    const struct record_decision *decisions;
    size_t decision_count;
    const struct record_verdict *verdicts;
    size_t verdict_count;
};

/* A record that was read; the memory is the reader's. */
struct record {
    enum record_kind kind;
    struct config config;
    struct delta delta;
    struct record_cycle cycle;
};

void record_put_config(struct wire_bytes *out, const struct config *config);
void record_put_delta(struct wire_bytes *out, const struct delta *delta);
void record_put_cycle(struct wire_bytes *out, const struct record_cycle *cycle);

/* Any of them, by its kind. */
void record_put(struct wire_bytes *out, const struct record *record);

/* The next one, in the form of `in`; false, with `in->is_bad` set, when there is none that makes sense. */
MUST_CHECK bool record_get(struct wire_in *in, struct record *ret);

/* Whether verdicts are those of this cycle: allocate tries every gang that waits; other actions only add to what it
 * said, and without it some are left from earlier cycles. */
static inline bool record_has_verdicts(const struct record_cycle *cycle)
{
    return cycle->action_count > 0 && cycle->actions[0] == ACTION_ALLOCATE;
}

/* What the engine has decided in this cycle, by name; names are the state's. */
struct record_decision *record_decisions(const struct engine *engine, const struct state *state, struct arena *arena,
                                         size_t *ret_count);

/* A number that is another one for each form of the records, and the form that has it; 0: none that is known. */
uint64_t record_fingerprint(uint32_t form);
uint32_t record_form(uint64_t fingerprint);
