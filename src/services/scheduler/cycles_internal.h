/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "base/vec.h"
#include "engine/engine.h"
#include "services/scheduler/cycles.h"

struct scheduler_cycle;

struct cycles {
    struct service *service;
    struct log *log;
    const struct setup *setup;
    struct state *state;
    struct engine *engine;
    struct pod_notes *pod_notes;
    struct gang_notes *gang_notes;
    struct placements *placements;
    struct setbacks *setbacks;
    struct evictions *evictions;
    struct carry *carry;
    struct writes *writes;
    struct report *report;
    struct intake *intake;
    struct observers *observers;
    struct pace *pace;
    uint64_t *count;
    void (*on_worn_out)(void *arg);
    void *arg;
    nsec_t held_for;      // until the first decision that was held back may be executed; 0: none was
    bool has_unreported;  // gangs are left to be explained
    struct {
        uint32_t which;
        nsec_t began;
    } searches[3];  // by enum search_stage
};

/* The decisions of a cycle with their texts, which need the engine as it was when it made them. */
struct outcome {
    struct decision decision;
    char *text;
    bool is_held;  // not executed for now
};

struct outcomes VEC_OF(struct outcome);

void outcomes_done(struct outcomes *outcomes);

/* Takes the decisions of the engine, which is open. */
void cycles_take_decisions(struct cycles *cycles, const struct scheduler_cycle *cycle, struct outcomes *outcomes);

/* Leaves them at that: the state is as it was before. */
void cycles_take_back(struct cycles *cycles, const struct outcomes *outcomes);

/* Executes them, once the engine is closed. */
void cycles_execute(struct cycles *cycles, struct outcomes *outcomes);
