/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "net/loop.h"
#include "objects/group/live.h"
#include "objects/object.h"
#include "services/grouper/getter.h"
#include "services/grouper/grouper_internal.h"
#include "services/grouper/values.h"

/*
 * One pod on its way to its group. Every step that waits for the server ends in a callback which starts the next one;
 * each either goes on or ends all with reconcile_finish() or reconcile_fail():
 *
 *     reconcile.c        the start, the owners from the pod up, the end
 *     reconcile_rules.c  the rules of the top owner's kind, and what they ask to be read
 *     reconcile_write.c  the PodGroup, and the pod's patch
 */

/* Owners above each other, and writes that others may come in between. */
enum { OWNERS_MAX = 16, CONFLICTS_MAX = 10 };

struct owner {
    struct got *got;
    const struct object *object;
    const char *api_version, *kind;
};

struct reconcile {
    struct grouper *grouper;
    struct pod_record *pod;
    uint64_t digest;
    char *text;
    yyjson_doc *doc;
    struct object_set set;
    const struct object *object;  // the pod
    struct group_live live;
    struct owner owners[OWNERS_MAX];
    size_t owner_count;
    VEC(struct got *) others;  // objects that the rules asked for
    VEC(yyjson_doc *) pods;
    struct get_wait *get;
    struct values_wait *values;
    yyjson_doc *answers;  // of `values`
    struct kube_list *list;
    struct kube_call *call;
    struct loop_task finisher;
    struct group_outcome outcome;
    uint64_t wanted;     // digest of the group as it should be
    uint64_t group_key;  // that is being written; 0: none
    uint32_t rounds, conflicts;
    struct err err;
};

/* All owners are read: by their rules to a group, from here on or again with what was asked for. */
void reconcile_go_on(struct reconcile *work);

/* `work->outcome` is known: writes it. */
void reconcile_write_group(struct reconcile *work);

/* The last step, well or not. Ends from the loop, so that `work` may be looked at until then. */
void reconcile_finish(struct reconcile *work);
void reconcile_fail(struct reconcile *work, const struct err *err);
