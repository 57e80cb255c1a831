/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The agent of a machine that has joined another one. The lease is a promise: what runs here has ended before the lease has
 * run out, so that the control machine may start it elsewhere. The processes beside the pods keep the promise
 * (local/shim/node_lease.h); here, pods that were ended so are given back, and none is begun while the promise does not hold.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "local/node/node_internal.h"
#include "local/server/files.h"
#include "local/shim/node_lease.h"

#define LEASE_DURATION_MIN (5 * NSEC_PER_SEC)

int joined_open(struct node *node, const char *folder, const struct node_flags *flags, struct err *err)
{
    struct joined *joined = &node->joined;
    struct node_lease lease = {0};

    if (flags->lease_duration < LEASE_DURATION_MIN || flags->lease_duration > NSEC_PER_HOUR)
        return err_set(err, -EINVAL, "--lease-duration: from 5 seconds to an hour");
    int r = member_read(folder, &joined->member, err);

    if (r < 0)
        return r;
    (void)snprintf(node->machine.name, sizeof node->machine.name, "%s", joined->member.name);
    joined->is_on = true;
    joined->duration = flags->lease_duration;
    joined->lease_path = file_path(folder, "lease.json");
    joined->rules = (struct user_rules){
        .owner = joined->member.owner, .owner_name = joined->member.owner_name, .allows_root = flags->allow_root};
    joined->is_lapsed = !node_lease_read(joined->lease_path, &lease);
    joined->until = joined->is_lapsed ? 0 : lease.until;
    return 0;
}

void joined_done(struct node *node)
{
    free(TAKE_PTR(node->joined.lease_path));
    member_done(&node->joined.member);
}

const struct user_rules *joined_rules(const struct node *node)
{
    return node->joined.is_on ? &node->joined.rules : NULL;
}

bool joined_may_begin(const struct node *node)
{
    const struct joined *joined = &node->joined;

    return !joined->is_on || (joined->is_reported && !joined->is_removed && nsec_now_boot() < joined->until);
}

/* What ran here until the lease was over has ended, or is about to; the control machine may have given it to others. */
static void condemn_all(struct node *node)
{
    struct node_pod *pod;

    for (size_t cursor = 0; (pod = strmap_next(&node->pods, &cursor));) {
        /* Those that never began here begin as new ones. */
        if (!pod->is_linked && !pod->is_claimed)
            continue;
        pod->is_condemned = true;
        node_pod_look(pod);
    }
}

void joined_renewed(struct node *node)
{
    struct joined *joined = &node->joined;
    const struct node_lease lease = node_lease_of(joined->duration, joined->sent);
    struct err err = {0};
    bool has_lapsed = nsec_now_boot() >= joined->until;

    if (lease.until <= nsec_now_boot())
        return;
    if (has_lapsed) {
        joined->is_lapsed = true;
        joined->is_reported = false;
        condemn_all(node);
    }
    if (node_lease_write(joined->lease_path, &lease, &err) < 0) {
        log_warn(node->service->log, "the lease could not be written; pods are ended when the last lease expires",
                 log_error(&err));
        return;
    }
    joined->until = lease.until;
    if (!joined->is_reported)
        node_report(node);
}

/* The control machine knows that the node is back: from now on pods that are bound to it may begin. */
void joined_reported(struct node *node)
{
    struct node_pod *pod;

    if (!node->joined.is_on || node->joined.is_reported)
        return;
    node->joined.is_reported = true;
    for (size_t cursor = 0; (pod = strmap_next(&node->pods, &cursor));)
        node_pod_look(pod);
}

void joined_refused(struct node *node)
{
    struct node_pod *pod;

    if (node->joined.is_removed)
        return;
    node->joined.is_removed = true;
    log_warn(node->service->log, "the control machine does not accept the certificate of this node any more: the node "
                                 "was removed; ending its pods");
    (void)unlink(node->joined.lease_path);
    member_forget(node->joined.member.folder);
    for (size_t cursor = 0; (pod = strmap_next(&node->pods, &cursor));) {
        yyjson_doc_free(TAKE_PTR(pod->object));
        node_pod_look(pod);
    }
}

bool joined_is_over(const struct node *node)
{
    return node->joined.is_removed && node->pods.len == 0;
}
