/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/nodes/place.h"
#include "model/ids.h"

struct engine;
struct gang;

/*
 * Evicting and placing plain pods on a copy of what is free, without statements: for telling that a plan fails at a
 * fraction of what simulating it costs. It does what a simulation does, for pods that have nothing of their own but their
 * requests, and says so when it meets anything else.
 */
struct rehearsal;

struct rehearsal *rehearsal_new(void);
void rehearsal_free(struct rehearsal *rehearsal);
size_t rehearsal_bytes(const struct rehearsal *rehearsal);

/*
 * Starts from the books as they are; only `feasible` nodes, and those that pods are evicted from, are used. Rooms of nodes
 * must be fresh (gpu_room_refresh). False: the settings or one of the nodes are not plain.
 */
bool rehearsal_begin(struct rehearsal *rehearsal, struct engine *engine, struct node_set feasible);

/*
 * Nothing about the pod but its request weighs in where it may be placed. Answers are kept from one pod to the next:
 * `begin_asking` when a search begins.
 */
void rehearsal_begin_asking(struct rehearsal *rehearsal);
bool rehearsal_takes(struct rehearsal *rehearsal, const struct engine *engine, pod_id pod);

/* The gang is one set of such pods, without topology. */
bool rehearsal_takes_gang(const struct engine *engine, const struct gang *gang);

/*
 * It can also be followed as a victim: it is complete, so that it never asks for more at its turn than was evicted of it,
 * and none of its pods was moved in this cycle.
 */
bool rehearsal_takes_victim(const struct engine *engine, const struct gang *gang);

/* Back to the books. Then pods are evicted, all of them first, and placed again or anew. */
void rehearsal_reset(struct rehearsal *rehearsal);

enum rehearsal_result { REHEARSAL_DONE, REHEARSAL_NO_ROOM, REHEARSAL_UNKNOWN };
enum rehearsal_result rehearsal_evict(struct rehearsal *rehearsal, pod_id pod);
enum rehearsal_result rehearsal_place(struct rehearsal *rehearsal, pod_id pod);

/* Is there a node with so many whole GPUs, one or more? Evicting makes some, placing never does. */
bool rehearsal_has_whole(const struct rehearsal *rehearsal, int64_t gpus);
