/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

struct carry;
struct engine;
struct evictions;
struct gang_notes;
struct intake;
struct log;
struct observers;
struct pace;
struct placements;
struct pod_notes;
struct report;
struct service;
struct setbacks;
struct setup;
struct state;
struct writes;

/*
 * Cycles: the engine runs, its decisions are executed, and what waits is explained. They come when the pace says so.
 */
struct cycles;

/* What a cycle works with; all borrowed. */
struct cycles_options {
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
    uint64_t *count;  // of cycles that have run so far; counts on when everything is listed anew
    /*
     * Names are never given back, and pods never stop coming: called after a cycle when most names are those of objects
     * that are long gone and nothing is under way. The state is to be made anew, as after a restart.
     */
    void (*on_worn_out)(void *arg);
    void *arg;
};

/* Cycles run by the pace from now on, and the engine asks us when to give up a search. */
struct cycles *cycles_new(const struct cycles_options *options);
void cycles_free(struct cycles *cycles);
