/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/strmap.h"
#include "base/vec.h"
#include "frame/flags.h"
#include "frame/work.h"
#include "objects/resource_list.h"

struct kube_call;

/*
 * The queues of a cluster and their accounts: what the PodGroups of a queue and of all queues below it request and have
 * been allocated. Sums are kept: a change of a PodGroup changes its queue and those above it. When queues come, go or move,
 * all sums are made anew, once for any number of such changes.
 *
 * A parent that does not exist counts nothing. Queues that are their own ancestors are each counted for themselves: none
 * of them is part of another.
 */
struct tree;

/* The resource lists of a queue's status, and of a PodGroup's. */
enum queue_list { LIST_REQUESTED, LIST_ALLOCATED, LIST_NON_PREEMPTIBLE, _QUEUE_LIST_MAX };

enum queue_resource { RESOURCE_GPU, RESOURCE_CPU, RESOURCE_MEMORY, _QUEUE_RESOURCE_MAX };

/* A Queue, or what others say of one that is not there. */
struct queue {
    struct work_item work;
    void *owner;             // the options' arg
    struct kube_call *call;  // that writes its status
    char *name;
    char *uid;  // NULL: there is no such Queue
    uint64_t version;
    const struct resource_list *status[_QUEUE_LIST_MAX];  // as the API server has them
    uint64_t status_children;                             // digest of the names
    char *parent_name;
    struct queue *parent;                        // whose sums it is part of
    VEC(struct queue *) children;                // by name
    struct resource_sum own[_QUEUE_LIST_MAX];    // of its PodGroups
    struct resource_sum total[_QUEUE_LIST_MAX];  // and of all queues below it
    uint32_t groups;
    char *display_name;
    double quota[_QUEUE_RESOURCE_MAX];  // as the spec has it
    VEC(char *) labels;                 // values of the labels that metrics show
};

struct tree_options {
    const struct flag_pairs *labels;                     // of queues, that metrics show: label -> name in metrics
    const struct flag_pairs *label_defaults;             // label -> value where a queue does not have it
    void (*on_differs)(void *arg, struct queue *queue);  // the status has to be written, or may have to
    void (*on_gone)(void *arg, struct queue *queue);     // the Queue is gone: nothing is written any more
    void (*on_unsettled)(void *arg);                     // tree_settle() has to be called, soon
    void *arg;
};

struct tree *tree_new(const struct tree_options *options);
void tree_free(struct tree *tree);  // without calling back

/* Objects were added or changed, or are gone. */
void tree_put_queue(struct tree *tree, yyjson_val *queue);
void tree_drop_queue(struct tree *tree, const char *name);
void tree_put_group(struct tree *tree, const char *uid, yyjson_val *pod_group);
void tree_drop_group(struct tree *tree, const char *uid);

/* Makes the sums anew if queues have come, gone or moved. Before that, sums are those of the tree as it was. */
void tree_settle(struct tree *tree);

/* The merge patch that makes the queue's status what it should be, to be freed; NULL: it is. */
char *tree_patch(struct tree *tree, struct queue *queue, size_t *ret_len);

/* The queues that there are, in no order; `*cursor` starts at 0. NULL past the last one. */
struct queue *tree_next(const struct tree *tree, size_t *cursor);

/* What has been allocated to the queue and those below it, for metrics: GPUs, cores, bytes. */
double queue_allocated(struct tree *tree, const struct queue *queue, enum queue_resource resource);
