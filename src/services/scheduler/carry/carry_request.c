/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Binds that the binder makes. A BindRequest may be there although its answer got lost, or because a scheduler before us
 * made it; the binder carries it out either way. So nothing is taken back before the server was asked what there is.
 */
#include <errno.h>

#include "kube/client/meta.h"
#include "kube/client/verbs.h"
#include "services/scheduler/carry/carry.h"
#include "services/scheduler/carry/carry_internal.h"
#include "services/scheduler/carry/request.h"

static struct placement *placement_of(const struct carrying *carrying)
{
    struct placement *placement = placement_find(carrying->carry->placements, carrying->key);

    return placement && placement->carrying == carrying ? placement : NULL;
}

/* There is one, ours or another: what it says counts from now on. */
static void take_over(struct carrying *carrying, yyjson_val *request)
{
    struct carry *carry = carrying->carry;
    struct placement *placement = placement_of(carrying);

    if (!placement) {
        carry_fail(carrying, &carrying->refused);
        return;
    }
    placement_read(carry->placements, placement, request);
    if (placement_is_live(carry->placements, placement, carrying->uid) && placement->node == carrying->node) {
        placement_apply(carry->placements, carrying->key);
        carry_succeed(carrying);
        return;
    }
    /* Not our failure counts then, but what the request says. */
    placement->carrying = NULL;
    carry_fail(carrying, &carrying->refused);
}

static void on_looked(void *arg, const struct kube_answer *answer)
{
    struct carrying *carrying = arg;
    yyjson_val *request = NULL;

    carrying->call = NULL;
    if (answer->err.code == 0 && kube_answer_object(answer, &request, NULL) == 0)
        take_over(carrying, request);
    else
        carry_fail(carrying, &carrying->refused);
}

static void on_requested(void *arg, const struct kube_answer *answer)
{
    struct carrying *carrying = arg;
    struct carry *carry = carrying->carry;
    struct placement *placement = placement_of(carrying);
    yyjson_val *object = NULL;
    bool is_refused = answer->is_unsent || (answer->status / 100 == 4 && answer->status != 409);

    carrying->call = NULL;
    if (is_refused) {
        carry_fail(carrying, &answer->err);
        return;
    }
    if (answer->err.code == 0 && kube_answer_object(answer, &object, NULL) == 0) {
        if (placement) {
            placement->has_request = true;
            placement->request_uid = name_put(carry->state, kube_text(object, "metadata", "uid"));
        }
        carry_succeed(carrying);
        return;
    }
    carrying->refused = answer->err;
    if (carrying->refused.code == 0)
        (void)err_set(&carrying->refused, -EBADMSG, "create bindrequests %s: the answer is no object",
                      key_name(carry->state, carrying->key));
    carrying->call = kube_send(carry->client, &(struct kube_request){
                                                  .verb = KUBE_GET,
                                                  .resource = kube_known(KUBE_BIND_REQUESTS),
                                                  .namespace = key_namespace(carry->state, carrying->key),
                                                  .name = key_name(carry->state, carrying->key),
                                                  .on_done = on_looked,
                                                  .arg = carrying,
                                              });
}

static void send_request(struct carrying *carrying, const struct err *err)
{
    struct carry *carry = carrying->carry;

    if (err) {
        carry_fail(carrying, err);
        return;
    }
    carrying->call = kube_send_doc(carry->client,
                                   &(struct kube_request){
                                       .verb = KUBE_CREATE,
                                       .resource = kube_known(KUBE_BIND_REQUESTS),
                                       .namespace = key_namespace(carry->state, carrying->key),
                                       /* There is one of that name at most. */
                                       .is_repeatable = true,
                                       .on_done = on_requested,
                                       .arg = carrying,
                                   },
                                   carrying->doc);
}

/* What is left to do before the request is sent. */
static void complete_request(struct carrying *carrying)
{
    if (carrying->has_claims)
        carry_claims(carrying);
    else
        send_request(carrying, NULL);
}

/* An older BindRequest of that name is out of the way. */
static void on_cleared(void *arg, const struct kube_answer *answer)
{
    struct carrying *carrying = arg;

    carrying->call = NULL;
    if (answer->err.code < 0 && answer->status != 404 && answer->status != 409)
        carry_fail(carrying, &answer->err);
    else
        complete_request(carrying);
}

void carry_request(struct carrying *carrying, const struct placement *placement, pod_id pod)
{
    struct carry *carry = carrying->carry;

    carrying->doc = request_encode(carry->state, &carry->setup->options, placement, pod);
    carrying->has_claims = carry_has_claims(carry->state, &carry->state->pods.items[pod]);
    carrying->on_claims = send_request;
    if (!placement->has_request) {
        complete_request(carrying);
        return;
    }
    carrying->call = kube_delete(carry->client, &(struct kube_delete_request){
                                                    .resource = kube_known(KUBE_BIND_REQUESTS),
                                                    .namespace = key_namespace(carry->state, carrying->key),
                                                    .name = key_name(carry->state, carrying->key),
                                                    .uid = state_name(carry->state, placement->request_uid),
                                                    .grace_s = -1,
                                                    .on_done = on_cleared,
                                                    .arg = carrying,
                                                });
}
