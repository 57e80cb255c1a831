/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/time.h"
#include "engine/node_reason.h"
#include "engine/verdict.h"
#include "model/ids.h"
#include "model/resources.h"

struct engine;

/*
 * A verdict opened up: which nodes fail which test, what is missing and who holds it, which queue stands where, which
 * domains have room, and why those who hold the rest may not be made to leave.
 *
 * It is worked out when somebody asks, by trying the gang once more and taking that back; nothing is kept for it while
 * decisions are made. It lives in an arena of its own and is good until the state changes.
 */
enum {
    EXPLAINED_PASSES = -1,
    EXPLAINED_NO_ROOM = 0
};  // explained_node.test; else 1 + an index in the table of filters

struct explained_node {
    node_id node;
    int16_t test;                      // the first that fails: room first, then filters in the order of their table
    bool is_allowed;                   // what the node is does not stand in the way, only what is on it
    bool lacks_gpu_memory;             // its GPUs have less memory than the pod asks for, or less of it free
    const struct node_reason *reason;  // what the filter that it fails says about it; NULL: nothing
    uint64_t lacks;  // bits of dimensions, as KAI counts them: more asked for than allocatable less used
};

/* A test, by explained_node.test: how many nodes fail it first. */
struct explained_test {
    const char *name;        // "room", or the name of a filter
    const char *text;        // KAI's words
    const char *named_text;  // the same with names (node_reason.h), NULL: as they are
    uint32_t nodes;
};

/* A filter that nodes fail, and what it names on them: the taint, the label. */
struct explained_cause {
    const char *test;    // the name of the filter
    const char *text;    // for people: "taint not tolerated"
    const char *detail;  // "dedicated=infra:NoSchedule"; "" where there is nothing to name
    bool is_static;      // whatever is on the node: it is not eligible
    uint32_t nodes;      // that fail it so, whatever else they fail
};

/* A resource that allowed nodes lack, in the unit of its dimension. */
struct explained_lack {
    uint32_t dim;
    uint32_t nodes;  // that lack it
    int64_t needed;
    int64_t least;  // what the best of them lacks
    node_id best;
};

/* A queue on the way from the gang's queue to the root. Unlimited is -1. */
struct explained_queue {
    queue_id queue;
    double quota[SHARE_COUNT];
    double limit[SHARE_COUNT];
    double fair[SHARE_COUNT];
    double allocated[SHARE_COUNT];
    double fixed[SHARE_COUNT];  // the part of it that may not be preempted
    double asked[SHARE_COUNT];  // by the gang, as limits and quotas count it
};

/* Why a gang is not made to leave for this one. */
enum explained_refusal {
    REFUSAL_NONE,         // it may be, but that would not make enough room
    REFUSAL_FIXED,        // it may not be preempted
    REFUSAL_PRIORITY,     // of the same queue, and not of lower priority
    REFUSAL_OWN_SHARE,    // of another queue, and the gang's own queue has its fair share
    REFUSAL_IN_QUOTA,     // of another queue that has no more than it may keep
    REFUSAL_MIN_RUNTIME,  // it started too short a time ago
    REFUSAL_DELAY,        // the gang itself may not make others leave yet
    REFUSAL_ACTION,       // no action runs that would do so
    REFUSAL_FOREIGN,      // not ours to evict: other schedulers' pods
    _EXPLAINED_REFUSAL_MAX
};

/* Who holds something on allowed nodes; with gang NO_ID all pods that belong to none. */
struct explained_holder {
    gang_id gang;
    queue_id queue;
    uint32_t pods;
    double held[SHARE_COUNT];
    enum explained_refusal refusal;
    nsec_t until;            // MIN_RUNTIME, DELAY: when it ends
    nsec_t protected_until;  // by its minimum runtime, whatever else protects it; 0: not
    queue_id level;          // IN_QUOTA, OWN_SHARE: the queue whose share decides
};

struct explained_domain {
    const char *name;  // values of the labels of its level and those above, joined by "."
    uint32_t nodes;
    int64_t pods;    // that it could take, by what is free; -1 where that is not counted
    uint64_t lacks;  // bits of dimensions of which all pods together need more than is free
};

struct explanation {
    gang_id gang;
    struct verdict verdict;     // as the last attempt of the cycle left it
    struct verdict tried;       // what placing it now, without evicting anyone, runs into
    bool would_be_placed;       // nothing stands in the way now
    pod_id pod;                 // the first that finds no place, NO_ID when there is none
    uint32_t placed_before;     // pods of the gang that find one before it
    double asked[SHARE_COUNT];  // by all pods that have to be placed together
    uint32_t chunk_count;       // and their number

    const struct explained_node *nodes;
    uint32_t node_count;  // that were looked at: all, or those of the last domain that was tried
    uint32_t allowed_count;
    const struct explained_test *tests;
    uint32_t test_count;
    const struct explained_lack *lacks;
    uint32_t lack_count;

    const struct explained_cause *causes;  // static ones first; explain_all() alone has these and the next three
    uint32_t cause_count;
    uint32_t all_nodes;
    uint32_t eligible_nodes;    // of them: no static filter fails
    struct verdict over_queue;  // the limit or quota that the gang would exceed, VERDICT_NONE when there is none

    const struct explained_queue *queues;  // the gang's own first
    uint32_t queue_count;
    const struct explained_holder *holders;  // who holds most first
    uint32_t holder_count;
    nsec_t delay_until;  // until when the gang may not make others leave; 0: it may

    name_id topology;  // that the group below names, 0: none stands in the way
    uint32_t topology_group;
    name_id level;             // required
    uint32_t domain_need;      // pods that have to be together
    bool domains_are_counted;  // false: pods are too different to be counted, `pods` of each is -1
    bool start_is_full;        // there is not enough room for them in all domains together
    const char *start;         // the one domain that all domains lie in, NULL: the whole cluster
    const struct explained_domain *domains;
    uint32_t domain_count;

    struct arena arena;
};

/*
 * Explains why the gang waits. The engine must be open, after the last action of the cycle; everything that decisions
 * depend on is left as it was.
 */
void explain(struct engine *engine, gang_id gang, struct explanation *ret);

/*
 * The same, and in addition all causes: every filter is asked about every node, not only up to the first that fails, and
 * the queues' limits too when something else ended the attempt. For people who ask; it takes longer.
 */
void explain_all(struct engine *engine, gang_id gang, struct explanation *ret);
void explanation_done(struct explanation *explanation);

/* Short and stable, for output that programs read: "min_runtime". */
const char *explained_refusal_name(enum explained_refusal refusal);
