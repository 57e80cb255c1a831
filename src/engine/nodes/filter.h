/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/config.h"
#include "engine/nodes/plain.h"
#include "engine/verdict.h"
#include "model/ids.h"

struct affinity_memory;
struct arena;
struct constraints;
struct state;
struct engine;
struct gang_view;
struct node_reason;
struct numa_placement;
struct request;
struct strbuf;

/*
 * Filters say which nodes may take a pod, beside having room. They are rows of one table (filter.c), in the order in which
 * they are asked; a new one is one file and one row. Whoever treats a filter in a way of its own (rehearsals,
 * explanations, texts) reads a column of the row.
 *
 * The scope says what the answer depends on, and so how long it holds:
 *   static   the pod's request and constraints and what the node is (labels, taints, conditions, capacity): kept for all
 *            pods alike until a node changes
 *   books    also what is on the node now: asked again when the node's books change
 *   cluster  also other nodes, queues or pods: asked each time
 */
enum filter_scope { FILTER_STATIC, FILTER_BOOKS, FILTER_CLUSTER };

struct filter {
    const char *name;    // stable, for `why` and the docs
    enum plugin plugin;  // that turns it on
    enum filter_scope scope;
    /* Can it matter for such a pod at all? NULL: always. */
    bool (*applies)(const struct engine *engine, const struct request *request, const struct constraints *constraints);
    bool (*passes)(struct engine *engine, pod_id pod, node_id node);
    const char *text;        // KAI's reason for events
    const char *named_text;  // the same with names: see node_reason.h; NULL: as it is
    /* Fills in what else KAI's texts say about a node that fails, from `arena`; NULL: nothing. */
    void (*reason)(struct engine *engine, pod_id pod, node_id node, struct arena *arena, struct node_reason *ret);
    /* What is wrong with a node that fails it, for people; NULL: the verdict about its queue says it. */
    const char *problem;
    /* Names what stands in the way on this node: the taint, the label. NULL: there is nothing to name. */
    void (*detail)(struct engine *engine, pod_id pod, node_id node, struct strbuf *out);
    struct plain_rule rehearsal;
};

extern const struct filter_table standard_filters;

/* Do all filters of the scope let the node take the pod? */
bool filters_pass(struct engine *engine, pod_id pod, node_id node, enum filter_scope scope);

/* Checks before any node is looked at: what makes a pod unplaceable everywhere. VERDICT_NONE when nothing does. */
enum verdict_code prefilter(struct engine *engine, pod_id pod);

/* The part of it that no eviction can change: missing volumes and config maps, larger than any node. */
enum verdict_code prefilter_unresolvable(struct engine *engine, pod_id pod);

/* Has the node the labels that node selector and required node affinity ask for? */
bool node_matches(const struct state *state, const struct constraints *constraints, node_id node);

/*
 * What affinity, spread, claims and NUMA remember during a cycle. `open` forgets it all; it comes with engine_open, and
 * whoever changes a node's books in between says so to topology_node_touched.
 */
struct affinity_memory *affinity_memory_new(void);
void affinity_memory_free(struct affinity_memory *memory);
void affinity_memory_open(struct affinity_memory *memory);
size_t affinity_memory_bytes(const struct affinity_memory *memory);

/*
 * Inter-pod (anti)affinity (affinity.c): applies to the pod, and passes on the node. As in KAI, a pod to which it does not
 * apply when it is first tried in a cycle is not asked about again in that cycle: to be called at every attempt at a pod.
 */
bool affinity_is_relevant(struct engine *engine, pod_id pod);
bool affinity_passes(struct engine *engine, pod_id pod, node_id node);
void affinity_reason(struct engine *engine, pod_id pod, node_id node, struct arena *arena, struct node_reason *ret);

/* Raw preferred inter-pod affinity of the node for the pod, not normalised. */
int64_t affinity_score(struct engine *engine, pod_id pod, node_id node);

/* Dynamic resource allocation (claims.c). */
bool claims_exist(struct engine *engine, pod_id pod);  // names resolve, queues and classes are right
bool claims_pass(struct engine *engine, pod_id pod, node_id node);
void claims_reason(struct engine *engine, pod_id pod, node_id node, struct arena *arena, struct node_reason *ret);
void name_claim_problem(struct engine *engine, pod_id pod, node_id node, struct strbuf *out);
void claims_allocate(struct engine *engine, pod_id pod);  // when the pod is placed on pod.node
void claims_release(struct engine *engine, pod_id pod);   // when it is evicted, or its placing is turned around
bool claims_allocate_anew(struct engine *engine,
                          pod_id pod);  // on pod.node, after a release; false: there are no devices left
/* Before an evicted pod is put back: its claims have the devices that it uses. False, and no change: some are not there. */
bool claims_return(struct engine *engine, pod_id pod);
bool claims_took_devices(struct engine *engine, pod_id pod, pod_id from);  // that `from`, evicted, uses?
void claims_keep(struct engine *engine, pod_id pod);                       // when it is bound
void claims_close(struct engine *engine);  // when the cycle ends: promises hold no devices

/* NUMA (numa.c). */
bool numa_passes(struct engine *engine, pod_id pod, node_id node);
double numa_score(struct engine *engine, pod_id pod, node_id node);
/* What the pod would draw from the node's zones, in the state's scratch arena; NULL when nothing. */
const struct numa_placement *numa_place(struct engine *engine, pod_id pod, node_id node);
void numa_draw(struct engine *engine, pod_id pod, int sign);  // +1: takes its placement from its node's zones

/* Volumes and topology spread (volumes.c, volume_use.c, spread.c). */
bool volumes_exist(struct engine *engine, pod_id pod);
bool volumes_pass(struct engine *engine, pod_id pod, node_id node);
bool volumes_unused(struct engine *engine, pod_id pod, node_id node);         // ReadWriteOncePod
bool volumes_within_limits(struct engine *engine, pod_id pod, node_id node);  // on volumes that a node takes
bool volumes_wait(struct engine *engine, pod_id pod, node_id node);  // that pass, but for pods that are leaving
void name_volume_problem(struct engine *engine, pod_id pod, node_id node, struct strbuf *out);
void volumes_reason(struct engine *engine, pod_id pod, node_id node, struct arena *arena, struct node_reason *ret);
void name_volume_user(struct engine *engine, pod_id pod, node_id node, struct strbuf *out);
void volume_use_reason(struct engine *engine, pod_id pod, node_id node, struct arena *arena, struct node_reason *ret);
void name_attach_limit(struct engine *engine, pod_id pod, node_id node, struct strbuf *out);
void attach_limit_reason(struct engine *engine, pod_id pod, node_id node, struct arena *arena, struct node_reason *ret);
bool spread_passes(struct engine *engine, pod_id pod, node_id node);
