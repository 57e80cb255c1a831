/* SPDX-License-Identifier: Apache-2.0 */

/* The Node object of this machine, and the lease that says that we are alive. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kube/client/verbs.h"
#include "local/machines/joined.h"
#include "local/node/node_internal.h"
#include "net/loop.h"
#include "text/json.h"

/* As a kubelet: a lease of 40 s, renewed every 10 s; the status now and then. */
enum { LEASE_SECONDS = 40, BEATS_PER_STATUS = 30, BEATS_PER_STATUS_JOINED = 3, BEATS_PER_LEASE = 4 };

#define RENEW_SOON (200 * NSEC_PER_MSEC)
#define BEAT (10 * NSEC_PER_SEC)

static void send_node(struct node *node, enum kube_verb verb, const char *subresource);

static nsec_t beat_of(const struct node *node)
{
    return node->joined.is_on ? MIN(node->joined.duration / BEATS_PER_LEASE, BEAT) : BEAT;
}

static void on_node(void *arg, const struct kube_answer *answer)
{
    struct node *node = arg;

    node->node_call = NULL;
    if (answer->err.code == 0) {
        bool is_first = !node->is_registered;

        node->is_registered = true;
        /* The object of a joined machine is made by the control machine: it got its labels first. */
        if (node->joined.is_on && (is_first || node->is_report_due)) {
            node->is_report_due = false;
            send_node(node, KUBE_PATCH_STRATEGIC, "status");
        } else {
            joined_reported(node);
        }
        return;
    }
    if (answer->status == 409 && !node->is_registered) {
        /* It was registered before: what may have changed meanwhile is written. */
        node->is_registered = true;
        send_node(node, KUBE_PATCH_STRATEGIC, "status");
        return;
    }
    /* Somebody has deleted it. */
    if (answer->status == 404)
        node->is_registered = false;
    log_warn(node->service->log, "the node could not be written; trying again later", log_error(&answer->err));
}

static void send_node(struct node *node, enum kube_verb verb, const char *subresource)
{
    /* Clients tell by it whether images run here. */
    const char *runtime = node->has_podman ? "process+podman" : node->images ? "process+folders" : "process";
    yyjson_mut_doc *doc = machine_node(&node->machine, &node->tree, runtime);

    node->node_call = kube_send_doc(node->service->client,
                                    &(struct kube_request){
                                        .verb = verb,
                                        .resource = kube_known(KUBE_NODES),
                                        .name = verb == KUBE_CREATE ? NULL : node->machine.name,
                                        .subresource = subresource,
                                        .is_repeatable = true,
                                        .on_done = on_node,
                                        .arg = node,
                                    },
                                    doc);
    yyjson_mut_doc_free(doc);
}

/* --- the lease --- */

static yyjson_mut_doc *lease_doc(const struct node *node)
{
    yyjson_mut_val *root = NULL;
    yyjson_mut_doc *doc = json_new_object(&root);
    nsec_t now = nsec_now_wall();
    char seconds[TIME_TEXT_MAX], text[TIME_TEXT_MAX + 16];

    (void)time_format(now - now % NSEC_PER_SEC, seconds);
    (void)snprintf(text, sizeof text, "%.19s.%06lldZ", seconds, (long long)(now % NSEC_PER_SEC / NSEC_PER_USEC));
    (void)yyjson_mut_obj_add_str(doc, root, "apiVersion", "coordination.k8s.io/v1");
    (void)yyjson_mut_obj_add_str(doc, root, "kind", "Lease");
    yyjson_mut_val *metadata = yyjson_mut_obj_add_obj(doc, root, "metadata");
    (void)yyjson_mut_obj_add_strcpy(doc, metadata, "name", node->machine.name);
    (void)yyjson_mut_obj_add_str(doc, metadata, "namespace", LEASE_NAMESPACE);
    yyjson_mut_val *spec = yyjson_mut_obj_add_obj(doc, root, "spec");
    (void)yyjson_mut_obj_add_strcpy(doc, spec, "holderIdentity", node->machine.name);
    (void)yyjson_mut_obj_add_int(doc, spec, "leaseDurationSeconds",
                                 node->joined.is_on ? node->joined.duration / NSEC_PER_SEC : LEASE_SECONDS);
    (void)yyjson_mut_obj_add_strcpy(doc, spec, "renewTime", text);
    return doc;
}

static void send_lease(struct node *node, enum kube_verb verb);

static void on_lease(void *arg, const struct kube_answer *answer)
{
    struct node *node = arg;

    node->lease_call = NULL;
    if (answer->status == 404 && !node->joined.is_removed)
        send_lease(node, KUBE_CREATE);
    else if (answer->status == 401 && node->joined.is_on)
        joined_refused(node);
    else if (answer->err.code == 0 && node->joined.is_on)
        joined_renewed(node);
    else if (answer->err.code < 0)
        log_warn(node->service->log, "the lease of the node could not be renewed", log_error(&answer->err));
}

static void send_lease(struct node *node, enum kube_verb verb)
{
    yyjson_mut_doc *doc = lease_doc(node);
    bool is_joined = node->joined.is_on;

    node->joined.sent = nsec_now_boot();
    node->lease_call = kube_send_doc(node->service->client,
                                     &(struct kube_request){
                                         .verb = verb,
                                         .resource = kube_known(KUBE_LEASES),
                                         .namespace = LEASE_NAMESPACE,
                                         .name = verb == KUBE_CREATE ? NULL : node->machine.name,
                                         .is_repeatable = true,
                                         .is_urgent = true,
                                         /* The time of the lease counts from when it was sent: from the one try. */
                                         .tries = is_joined ? 1 : 0,
                                         .timeout = is_joined ? beat_of(node) : 0,
                                         .on_done = on_lease,
                                         .arg = node,
                                     },
                                     doc);
    yyjson_mut_doc_free(doc);
}

void node_report(struct node *node)
{
    if (node->node_call || !node->is_registered)
        node->is_report_due = true;
    else
        send_node(node, KUBE_PATCH_STRATEGIC, "status");
}

static void beat(void *arg)
{
    struct node *node = arg;
    uint32_t per_status = node->joined.is_on ? BEATS_PER_STATUS_JOINED : BEATS_PER_STATUS;
    struct err removed = {0};

    if (joined_is_over(node)) {
        (void)err_set(&removed, -EKEYREVOKED, "node '%s' was removed from its control machine", node->machine.name);
        service_fail(node->service, &removed);
        return;
    }
    loop_timer_start(&node->renew, node->joined.is_removed ? NSEC_PER_SEC : beat_of(node));
    if (node->joined.is_removed)
        return;
    if (!node->lease_call)
        send_lease(node, KUBE_PATCH_MERGE);
    fences_check(node);
    node_pods_refresh(node);
    if (node->node_call)
        return;
    if (!node->is_registered)
        send_node(node, node->joined.is_on ? KUBE_PATCH_STRATEGIC : KUBE_CREATE, NULL);
    else if (node->beats % per_status == 0)
        send_node(node, KUBE_PATCH_STRATEGIC, "status");
    node->beats++;
}

void node_renew_soon(struct node *node)
{
    if (node->renew.handle && !node->joined.is_removed)
        loop_timer_start(&node->renew, RENEW_SOON);
}

void node_register(struct node *node)
{
    loop_timer_init(&node->renew, node->service->loop, beat, node);
    beat(node);
}
