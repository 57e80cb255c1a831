/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/ids.h"
#include "model/pod.h"
#include "model/resources.h"

struct node;
struct request;
struct shared_gpu;
struct held;
struct state;

/*
 * The books: what pods take from nodes, from shared GPUs and from queues. Everything here goes through the undo log while
 * it records, so that a simulation can be taken back.
 *
 * A pod's charge follows its status. Releasing: used and releasing grow, idle shrinks. Pipelined: used grows, releasing
 * shrinks (below zero where the room is idle). Otherwise used grows and idle shrinks. What is free sooner or later is
 * always idle + releasing.
 */

/* Sets the pod's status and what its gang counts. Nothing else: books of nodes and queues are the caller's. */
void pod_set_status(struct state *state, pod_id pod, enum pod_status status);
void pod_set_virtual(struct state *state, pod_id pod, bool is_virtual);
void pod_set_node(struct state *state, pod_id pod, node_id node);
void pod_set_groups(struct state *state, pod_id pod, struct group_list groups);

/* Books the pod on the node under its status and its groups, and works out what its place costs (accepted_gpu). */
void node_hold(struct state *state, node_id node, pod_id pod);

/* Takes the pod off the node's books, under the status it was booked with. Nothing when it is not there. */
void node_release(struct state *state, node_id node, pod_id pod);

/* Forgets that the node holds the pod but leaves the charges as they are. */
void node_forget(struct state *state, node_id node, pod_id pod);

/* How the node holds the pod, or NULL. Valid until the books change. */
const struct held *node_holds(const struct state *state, node_id node, pod_id pod);

/* Charges (+1) or credits (-1) the pod's place to its queue and all queues above. Uses accepted_gpu. */
void queue_charge(struct state *state, pod_id pod, int sign);

/* What the pod's place costs: cpu, memory and all GPUs, MIG slices included. */
struct amounts pod_accepted(const struct state *state, pod_id pod);

/* What the pod asks for: cpu, memory and all GPUs; requests for GPU memory count 0 GPUs here. */
struct amounts pod_asked(const struct state *state, pod_id pod);

/* MiB that the request takes of each shared GPU on this node. */
int64_t request_memory_on(const struct request *request, const struct node *node);

/* The part of a device that the request takes on this node: as asked, or its memory in hundredths, rounded up. */
double request_portion_on(const struct request *request, const struct node *node);

/* Does the request fit on the shared GPU, counting what is being released? Only on one that something else stays on. */
bool shared_gpu_fits(const struct node *node, const struct shared_gpu *gpu, int64_t memory_mib);

/* Does it fit now? */
bool shared_gpu_fits_idle(const struct node *node, const struct shared_gpu *gpu, int64_t memory_mib);

/* GPUs that are idle on the node, as a number with the free parts of shared ones; likewise those being released. */
double node_idle_gpus(const struct state *state, node_id node);
double node_releasing_gpus(const struct state *state, node_id node);
int64_t node_idle_gpu_memory(const struct state *state, node_id node);
int64_t node_releasing_gpu_memory(const struct state *state, node_id node);

/* Free parts of shared GPUs, for the count of pods that a topology domain could take. */
double node_shared_room(const struct state *state, node_id node);
