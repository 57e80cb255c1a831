/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"
#include "base/time.h"
#include "services/scheduler/keys.h"

struct eviction;
struct placement;
struct setback;

/* Decisions that can fail. */
enum setback_kind { SETBACK_BIND, SETBACK_EVICT, _SETBACK_MAX };

/*
 * All that is known of pods besides what the state holds of them: one table, a note for each pod about which there is
 * something to note. Most pods have none: a pod that runs, and about which nothing is under way, needs nothing.
 *
 * What a member points to belongs to the context that set it, which is freed before the table.
 */
struct pod_notes;

struct pod_note {
    object_key key;
    struct placement *placement;             // carry/placements: where it goes
    struct eviction *eviction;               // carry/evictions: it was asked to leave
    struct setback *setbacks[_SETBACK_MAX];  // carry/setbacks: what of it failed
    uint64_t condition;                      // hash of its PodScheduled condition; 0: it has none
    name_id promised;                        // node that it was last told to be promised; 0: none
    name_id lone_gang;                       // gang that was made for it alone; 0: none
    bool picks_namespaces;                   // how it is read depends on labels of namespaces
    nsec_t leaving_since;                    // it is being deleted; 0: it is not
    struct list_link in_leaving;
};

struct pod_notes *pod_notes_new(void);
void pod_notes_free(struct pod_notes *notes);

/* NULL when there is nothing to note; pod_note_put() makes an empty note then. */
struct pod_note *pod_note_find(const struct pod_notes *notes, object_key key);
struct pod_note *pod_note_put(struct pod_notes *notes, object_key key);

/* Something was taken out of the note: it is freed when nothing is left. Nothing for NULL. */
void pod_note_settle(struct pod_notes *notes, struct pod_note *note);

/* The pod is being deleted since then; 0: it is not. */
void pod_note_set_leaving(struct pod_notes *notes, object_key key, nsec_t since);

/* Notes of pods that are being deleted, linked by `in_leaving`. */
const struct list *pod_notes_leaving(const struct pod_notes *notes);

/* Walks over all notes as map64_next() does; NULL at the end. */
struct pod_note *pod_notes_next(const struct pod_notes *notes, size_t *cursor);

size_t pod_notes_len(const struct pod_notes *notes);
