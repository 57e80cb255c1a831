/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The Secret with the certificates. Every replica follows it and every replica may write it: the first one's write counts,
 * for each carries the version that it was decided on, and whoever comes second is refused and reads what the first has
 * written. A certificate is served only once it is in the Secret, so that all replicas serve the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/client/meta.h"
#include "kube/follow/follow.h"
#include "services/admission/admission_internal.h"

#define RETRY_FIRST (500 * NSEC_PER_MSEC)
#define RETRY_MAX (30 * NSEC_PER_SEC)

yyjson_doc *object_keep(yyjson_val *object)
{
    yyjson_mut_doc *copy = object ? kube_copy(object) : NULL;
    yyjson_doc *kept = copy ? yyjson_mut_doc_imut_copy(copy, NULL) : NULL;

    yyjson_mut_doc_free(copy);
    return kept;
}

/* What the Secret holds is what there is. */
static void adopt(struct admission *admission, yyjson_val *secret)
{
    struct vault *vault = &admission->vault;

    yyjson_doc_free(vault->seen);
    vault->seen = object_keep(secret);
    keyring_done(&vault->keyring);
    keyring_read(secret, &vault->keyring);
    if (keyring_can_serve(&vault->keyring, nsec_now_wall()))
        server_use(admission, &vault->keyring.server);
    hooks_look(admission);
    loop_task_queue(&vault->task);
}

static void on_written(void *arg, const struct kube_answer *answer)
{
    struct admission *admission = arg;
    struct vault *vault = &admission->vault;
    yyjson_val *secret = NULL;
    struct err err = answer->err;

    vault->call = NULL;
    if (err.code == 0 && kube_answer_object(answer, &secret, &err) == 0) {
        backoff_reset(&vault->backoff);
        meter_add(admission->rotations, 1);
        adopt(admission, secret);
        return;
    }
    /* Another replica was first: its certificates come with the watch. The pause is for a watch that is slow. */
    if (!kube_answer_is_conflict(answer) && answer->status != 409)
        log_warn(admission->service->log, "the certificates could not be stored; trying again", log_error(&err));
    nsec_t wait = backoff_next(&vault->backoff, chance_next(kube_client_chance(admission->service->client)));
    vault->not_before = nsec_now_monotonic() + wait;
    loop_timer_start(&vault->timer, wait);
}

/* Decided on the version that was seen: a Secret that has changed since is refused to us. */
static void store(struct admission *admission, const struct keyring *keyring)
{
    struct vault *vault = &admission->vault;
    yyjson_mut_doc *doc = keyring_write(keyring, vault->seen ? yyjson_doc_get_root(vault->seen) : NULL,
                                        admission->namespace, admission->flags->secret_name);
    size_t len = 0;
    _cleanup_(freep) char *body = yyjson_mut_write(doc, 0, &len);

    yyjson_mut_doc_free(doc);
    BUG_ON(!body);
    vault->call = kube_send(admission->service->client, &(struct kube_request){
                                                            .verb = vault->seen ? KUBE_UPDATE : KUBE_CREATE,
                                                            .resource = kube_known(KUBE_SECRETS),
                                                            .namespace = admission->namespace,
                                                            .name = vault->seen ? admission->flags->secret_name : NULL,
                                                            .body = body,
                                                            .body_len = len,
                                                            .on_done = on_written,
                                                            .arg = admission,
                                                        });
}

/* A copy to be changed: what is served stays until the change is stored. */
static void copy_keyring(const struct vault *vault, struct keyring *ret_keyring)
{
    *ret_keyring = (struct keyring){0};
    if (vault->seen)
        keyring_read(yyjson_doc_get_root(vault->seen), ret_keyring);
}

static nsec_t look_interval(const struct admission_flags *flags)
{
    return CLAMP(MIN(flags->server_lifetime, flags->authority_lifetime) / 60, NSEC_PER_SEC, NSEC_PER_HOUR);
}

static void turn(void *arg)
{
    struct admission *admission = arg;
    struct vault *vault = &admission->vault;
    nsec_t pause = vault->not_before - nsec_now_monotonic();
    const struct keyring_wishes wishes = {
        .dns_names = vault->name_list,
        .dns_name_count = DNS_NAMES,
        .server_lifetime = admission->flags->server_lifetime,
        .authority_lifetime = admission->flags->authority_lifetime,
        .is_next_trusted = hooks_have_next(admission),
    };
    struct keyring wanted;
    char why[KEYRING_WHY_MAX];
    struct err err = {0};

    if (admission->is_stopping || vault->call || !follower_is_synced(vault->follower))
        return;
    loop_timer_start(&vault->timer, pause > 0 ? pause : look_interval(admission->flags));
    if (pause > 0)
        return;
    copy_keyring(vault, &wanted);
    int r = keyring_advance(&wanted, &wishes, nsec_now_wall(), why, &err);
    if (r < 0)
        log_fail(admission->service->log, "certificates could not be created; trying again", log_error(&err));
    else if (r > 0) {
        log_info(admission->service->log, "certificates are renewed", log_str("reason", why));
        store(admission, &wanted);
    }
    keyring_done(&wanted);
}

void vault_look(struct admission *admission)
{
    loop_task_queue(&admission->vault.task);
}

static void on_secret(void *arg, const struct follow_event *event)
{
    struct admission *admission = arg;
    struct vault *vault = &admission->vault;

    if (event->change != FOLLOW_DELETED) {
        adopt(admission, event->object);
        return;
    }
    yyjson_doc_free(vault->seen);
    vault->seen = NULL;
    loop_task_queue(&vault->task);
}

static void on_synced(void *arg, bool is_first)
{
    (void)is_first;
    vault_look(arg);
}

static void on_problem(void *arg, const struct err *err, nsec_t wait)
{
    service_follow_problem(((struct admission *)arg)->service, "Secret", err, wait);
}

/* The Service of the webhooks, and those that configurations made for KAI name. */
static void make_names(struct admission *admission)
{
    const char *const services[DNS_NAMES] = {admission->flags->service_name, "queue-controller", "podgroup-controller"};
    struct vault *vault = &admission->vault;

    for (size_t i = 0; i < DNS_NAMES; i++) {
        (void)snprintf(vault->names[i], DNS_NAME_MAX, "%.63s.%.63s.svc", services[i], admission->namespace);
        vault->name_list[i] = vault->names[i];
    }
}

void vault_start(struct admission *admission)
{
    struct vault *vault = &admission->vault;
    struct strbuf field;

    vault->backoff = (struct backoff){.first = RETRY_FIRST, .max = RETRY_MAX};
    make_names(admission);
    loop_task_init(&vault->task, admission->service->loop, turn, admission);
    loop_timer_init(&vault->timer, admission->service->loop, turn, admission);
    strbuf_init(&field, 1024);
    strbuf_addf(&field, "metadata.name=%s", admission->flags->secret_name);
    vault->follower = follower_new(admission->service->client, &(struct follow_options){
                                                                   .resource = kube_known(KUBE_SECRETS),
                                                                   .namespace = admission->namespace,
                                                                   .field_selector = field.text,
                                                                   .on_event = on_secret,
                                                                   .on_synced = on_synced,
                                                                   .on_problem = on_problem,
                                                                   .arg = admission,
                                                               });
    strbuf_done(&field);
}

void vault_done(struct admission *admission)
{
    struct vault *vault = &admission->vault;

    follower_free(vault->follower);
    if (vault->call)
        kube_cancel(vault->call);
    loop_task_cancel(&vault->task);
    loop_timer_done(&vault->timer);
    yyjson_doc_free(vault->seen);
    keyring_done(&vault->keyring);
    free(vault->served_pem);
}
