/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Binds that the binder makes. A BindRequest may be there although its answer got lost, or because a scheduler before us
 * made it; the binder carries it out either way. So nothing is taken back before the server was asked what there is.
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "kube/client/certain.h"
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

/* There is one of that name, which may be ours: made by a try whose answer got lost, or by a scheduler before us. */
static enum kube_shown judge(void *arg, yyjson_val *request, struct err *err)
{
    const struct carrying *carrying = arg;
    const struct state *state = carrying->carry->state;

    if (!request)
        return KUBE_SHOWS_NOT_DONE;
    const char *node = kube_text(request, "spec", "selectedNode");
    bool is_leaving = kube_text(request, "metadata", "deletionTimestamp")[0] != '\0';
    bool has_failed = request_has_failed(request);
    const char *uid = request_pod_uid(request);
    bool is_of_pod = !*uid || strcmp(uid, state_name(state, carrying->uid)) == 0;
    if (is_of_pod && !is_leaving && !has_failed && strcmp(node, state_name(state, carrying->node)) == 0)
        return KUBE_SHOWS_DONE;
    (void)err_set(err, -EEXIST, "create bindrequests %s/%s: one for node %s already exists%s",
                  key_namespace(state, carrying->key), key_name(state, carrying->key), node,
                  is_leaving   ? ", which is being deleted"
                  : has_failed ? ", which has failed"
                               : "");
    return KUBE_SHOWS_IMPOSSIBLE;
}

/* What is written counts from now on, be it ours or another's. */
static void take_over(struct carrying *carrying, struct placement *placement, const struct kube_answer *answer)
{
    struct carry *carry = carrying->carry;
    yyjson_val *object = NULL;

    if (!placement || kube_answer_object(answer, &object, NULL) < 0)
        return;
    if (answer->status == 201) {
        placement->has_request = true;
        placement->request_uid = name_put(carry->state, kube_text(object, "metadata", "uid"));
        return;
    }
    placement_read(carry->placements, placement, object);
    /* Not our failure counts then, but what the request says. */
    if (answer->err.code < 0)
        placement->carrying = NULL;
    placement_apply(carry->placements, carrying->key);
}

static void on_requested(void *arg, const struct kube_answer *answer)
{
    struct carrying *carrying = arg;

    carrying->request = NULL;
    if (answer->err.code == 0 || answer->err.code == -EEXIST)
        take_over(carrying, placement_of(carrying), answer);
    if (answer->err.code == 0)
        carry_succeed(carrying);
    else if (answer->is_unsent || answer->err.code == -ESTALE)
        carry_take_back(carrying, &answer->err);
    else
        carry_fail(carrying, &answer->err);
}

static void on_unknown(void *arg, const struct err *err)
{
    carry_unknown(arg, err);
}

static void send_request(struct carrying *carrying, const struct err *err)
{
    struct carry *carry = carrying->carry;

    if (err) {
        carry_fail(carrying, err);
        return;
    }
    carrying->request =
        kube_certain_start(carry->client, &(struct kube_certain_request){
                                              .write =
                                                  {
                                                      .verb = KUBE_CREATE,
                                                      .resource = kube_known(KUBE_BIND_REQUESTS),
                                                      .namespace = key_namespace(carry->state, carrying->key),
                                                  },
                                              .doc = carrying->doc,
                                              .resource = kube_known(KUBE_BIND_REQUESTS),
                                              .namespace = key_namespace(carry->state, carrying->key),
                                              .name = key_name(carry->state, carrying->key),
                                              .judge = judge,
                                              .may_repeat = carry_may_repeat,
                                              .on_unknown = on_unknown,
                                              .on_done = on_requested,
                                              .arg = carrying,
                                          });
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

    carrying->removal = NULL;
    if (answer->err.code == -ESTALE)
        carry_take_back(carrying, &answer->err);
    else if (answer->err.code < 0)
        carry_fail(carrying, &answer->err);
    else
        complete_request(carrying);
}

void carry_request(struct carrying *carrying, const struct placement *placement, pod_id pod)
{
    struct carry *carry = carrying->carry;

    carrying->doc = request_encode(carry->state, &carry->setup->options, placement, pod, carry_is_lasting(carry, pod));
    carrying->has_claims = carry_has_claims(carry->state, &carry->state->pods.items[pod]);
    carrying->on_claims = send_request;
    if (!placement->has_request) {
        complete_request(carrying);
        return;
    }
    carrying->removal = kube_removal_start(carry->client,
                                           &(struct kube_delete_request){
                                               .resource = kube_known(KUBE_BIND_REQUESTS),
                                               .namespace = key_namespace(carry->state, carrying->key),
                                               .name = key_name(carry->state, carrying->key),
                                               .uid = state_name(carry->state, placement->request_uid),
                                               .grace_s = -1,
                                               .may_repeat = carry_may_repeat,
                                               .on_done = on_cleared,
                                               .arg = carrying,
                                           },
                                           NULL);
}
