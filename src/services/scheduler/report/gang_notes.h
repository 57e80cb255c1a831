/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/time.h"
#include "services/scheduler/keys.h"

struct observers;
struct setup;
struct state;
struct writes;

/* What is known of PodGroups besides what the state holds of them: a note for each that has been seen. */
struct gang_notes;

/* A gang without a note was made for a lone pod. */
struct gang_note {
    object_key key;
    name_id uid;
    name_id priority_class;
    uint64_t content;    // hash of what the state is made from
    uint64_t condition;  // hash of its last scheduling condition, if that is of our node pool; 0: none
    bool marks_pods;     // its pods are told that they cannot be scheduled
    bool names_pool;     // it is tried in one pool after the other: texts say which
    nsec_t last_start;   // as annotated
    nsec_t last_eviction;
    nsec_t stale_since;
};

/* Borrows all. */
struct gang_notes *gang_notes_new(struct state *state, const struct setup *setup, struct writes *writes,
                                  struct observers *observers);
void gang_notes_free(struct gang_notes *notes);

/* Walk over all, and over those whose PodGroup has scheduling conditions, as map64_next() does; NULL at the end. */
struct gang_note *gang_notes_next(const struct gang_notes *notes, size_t *cursor);
struct gang_note *gang_notes_next_conditioned(const struct gang_notes *notes, size_t *cursor);

/* NULL where no PodGroup has been seen. */
struct gang_note *gang_note_find(const struct gang_notes *notes, object_key key);
void gang_note_drop(struct gang_notes *notes, object_key key);

/* Takes over what a PodGroup says. Whether it has to be decoded: something that the state holds of it has changed. */
bool gang_note_read(struct gang_notes *notes, object_key key, yyjson_val *pod_group);

/* A number for a scheduling condition. */
uint64_t scheduling_condition_hash(const char *reason, const char *message);

/* Has the gang's annotated times brought up to date, if the state's are others. */
void gang_times_write(struct gang_notes *notes, gang_id gang);

/*
 * Around the decoding of a PodGroup, whose annotations may be older than what we know: times that are on their way to
 * the server stay as they are.
 */
struct gang_times {
    bool is_known;
    nsec_t last_start;
    nsec_t last_eviction;
    nsec_t stale_since;
};

struct gang_times gang_times_get(const struct gang_notes *notes, object_key key);
void gang_times_keep(struct gang_notes *notes, object_key key, const struct gang_times *before);
