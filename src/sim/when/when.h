/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/macros.h"
#include "sim/when/calibration.h"
#include "sim/when/future.h"

struct err;
struct object_set;
struct table_view;

/*
 * When workloads will start: many futures of one world, and what they have in common.
 */
enum when_outcome {
    WHEN_EXPECTED,  // `prediction` says when
    WHEN_RUNNING,   // it has started
    WHEN_LATER,     // in most futures it does not start within the horizon
    WHEN_NEVER,     // it cannot start in this cluster, whatever ends
    WHEN_UNKNOWN,   // too little is known of what it waits for
    _WHEN_OUTCOME_MAX
};

/* What an answer rests on. */
struct when_basis {
    uint32_t past;      // workloads of the past
    uint32_t ended;     // of these, whose run time is known
    uint32_t running;   // workloads that hold GPUs, or anything where nothing holds GPUs
    uint32_t limited;   // of these, with a declared limit
    uint32_t known;     // of these, by runs of workloads like them
    uint32_t unknown;   // of these, with neither: nobody can say when they end
    uint32_t waiting;   // workloads that wait
    nsec_t past_since;  // the first of the past, 0: none
};

struct when_answer {
    gang_id gang;
    enum when_outcome outcome;
    struct prediction prediction;
    nsec_t started;  // WHEN_RUNNING: when, 0: not known
};

struct when_options {
    struct future_options future;
    uint32_t futures;
    const struct calibration *calibration;  // may be NULL
    const struct prediction_list *open;     // may be NULL
    bool (*goes_on)(void *context);         // asked between futures once WHEN_FUTURES_MIN are there; may be NULL
    void *context;
};

enum { WHEN_FUTURES = 100, WHEN_FUTURES_MIN = 10, WHEN_FUTURES_MAX = 10000 };
#define WHEN_HORIZON (14 * 24 * NSEC_PER_HOUR)

void when_options_init(struct when_options *options);

/* What is known of the world. */
struct when_basis when_basis(const struct future_world *world);

/* Whether that is enough to say anything: not if the run times of more than a tenth of what runs are unknown. */
bool when_knows_enough(const struct when_basis *basis);

/* Answers for all gangs, each of `ret_answers[i].gang`, from the same futures. */
MUST_CHECK int when_ask(const struct future_world *world, const struct when_options *options,
                        struct when_answer *answers, uint32_t count, struct err *err);

/*
 * What is known of each gang of a settled state, by gang id: traits by the objects that it was read from (NULL: by the
 * state alone), how long it has run at `now`, and its declared limit. To be freed by the caller.
 */
struct future_fact *when_facts(const struct state *state, const struct object_set *objects, nsec_t now);

void when_print(const struct future_world *world, const struct when_basis *basis, const struct when_options *options,
                const struct when_answer *answers, uint32_t count, const struct table_view *view, FILE *out);
void when_write(const struct future_world *world, const struct when_basis *basis, const struct when_options *options,
                const struct when_answer *answers, uint32_t count, FILE *out);
