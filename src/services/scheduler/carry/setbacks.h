/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/time.h"
#include "model/ids.h"
#include "services/scheduler/keys.h"
#include "services/scheduler/pod_notes.h"

/*
 * Pods whose bind or eviction failed. The next attempt waits a second, then twice as long after each failure, a minute at
 * most. The engine decides as if there were no such wait, so that nobody else is placed differently for it; a decision
 * that comes too early is not carried out, and made again by a later cycle. All of a gang that failed together may be
 * tried again together, hence no chance in it. After a conflict, which says only that somebody else has just written, the
 * waits are shorter: from a twentieth of a second to one.
 *
 * A setback is over when the pod is another, asks for something else, or got what was decided, and when the node that it
 * was about comes or goes.
 */
struct setbacks;

/* Borrows both. */
struct setbacks *setbacks_new(const struct state *state, struct pod_notes *notes);
void setbacks_free(struct setbacks *setbacks);

size_t setbacks_len(const struct setbacks *setbacks);

/* The decision about the pod on that node failed. Returns how long the next attempt has to wait; 0 when there is no such
 * pod any more. */
nsec_t setback_note(struct setbacks *setbacks, enum setback_kind kind, object_key key, name_id node, bool is_conflict,
                    nsec_t now);

/* How long it is too early to try again; 0: it is not. */
nsec_t setback_wait(const struct setbacks *setbacks, enum setback_kind kind, pod_id pod, nsec_t now);

/* The pod was read, or is gone: setbacks that it has left behind are forgotten. */
void setbacks_look_at_pod(struct setbacks *setbacks, object_key key);

/* The node came or went. */
void setbacks_forget_node(struct setbacks *setbacks, name_id node);
