/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The webhook configurations: who installs Muster makes them without a caBundle, and we write it, so that API servers
 * trust the certificates of the keyring. A configuration that is not there is not needed; all that it says besides is
 * left alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/access/base64.h"
#include "kube/client/meta.h"
#include "kube/follow/follow.h"
#include "services/admission/admission_internal.h"
#include "text/json.h"

#define RETRY_FIRST (500 * NSEC_PER_MSEC)
#define RETRY_MAX (30 * NSEC_PER_SEC)

/* Of pods and of topologies, of queues, of PodGroups; their names are flags. */
static const enum kube_known kinds[HOOKS] = {
    KUBE_MUTATING_WEBHOOKS,
    KUBE_VALIDATING_WEBHOOKS,
    KUBE_VALIDATING_WEBHOOKS,
    KUBE_VALIDATING_WEBHOOKS,
};

/* The bundle of a webhook as text; "" when it has none. To be freed by the caller. */
static char *bundle_of(yyjson_val *webhook)
{
    const char *encoded = kube_text(webhook, "clientConfig", "caBundle");
    char *text = NULL;
    size_t len = 0;

    if (*encoded && base64_decode(encoded, &text, &len) == 0 && !memchr(text, '\0', len))
        return text;
    free(text);
    return xstrdup("");
}

static void add_operation(yyjson_mut_doc *doc, const char *op, const char *path, const char *value)
{
    yyjson_mut_val *operation = yyjson_mut_arr_add_obj(doc, yyjson_mut_doc_get_root(doc));

    yyjson_mut_obj_add_str(doc, operation, "op", op);
    yyjson_mut_obj_add_strcpy(doc, operation, "path", path);
    yyjson_mut_obj_add_strcpy(doc, operation, "value", value);
}

/* What has to be changed in the configuration, on the understanding that nobody has changed it; NULL: nothing. */
static yyjson_mut_doc *make_patch(const struct hook *hook)
{
    yyjson_val *object = yyjson_doc_get_root(hook->seen);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_val *webhook;
    size_t i, max;

    BUG_ON(!doc);
    yyjson_mut_doc_set_root(doc, yyjson_mut_arr(doc));
    add_operation(doc, "test", "/metadata/resourceVersion", kube_text(object, "metadata", "resourceVersion"));
    yyjson_arr_foreach(yyjson_obj_get(object, "webhooks"), i, max, webhook)
    {
        _cleanup_(freep) char *bundle = bundle_of(webhook);
        _cleanup_(freep) char *wanted = keyring_bundle(&hook->admission->vault.keyring, bundle, nsec_now_wall());
        char path[80];

        if (!wanted || !yyjson_is_obj(yyjson_obj_get(webhook, "clientConfig")))
            continue;
        _cleanup_(freep) char *encoded = base64_encode(wanted, strlen(wanted));
        (void)snprintf(path, sizeof path, "/webhooks/%zu/clientConfig/caBundle", i);
        add_operation(doc, "add", path, encoded);
    }
    if (yyjson_mut_arr_size(yyjson_mut_doc_get_root(doc)) > 1)
        return doc;
    yyjson_mut_doc_free(doc);
    return NULL;
}

static void look(struct hook *hook);

static void keep(struct hook *hook, yyjson_val *object)
{
    yyjson_doc_free(hook->seen);
    hook->seen = object_keep(object);
    look(hook);
    /* The authority to come may be trusted everywhere now. */
    vault_look(hook->admission);
}

/* An older version never comes after a newer one: the answer to a write may come before or after the watch shows it. */
static bool is_news(const struct hook *hook, yyjson_val *object)
{
    const char *had = hook->seen ? kube_text(yyjson_doc_get_root(hook->seen), "metadata", "resourceVersion") : "";
    const char *has = kube_text(object, "metadata", "resourceVersion");

    return strlen(has) > strlen(had) || (strlen(has) == strlen(had) && strcmp(has, had) > 0);
}

static void on_patched(void *arg, const struct kube_answer *answer)
{
    struct hook *hook = arg;
    struct admission *admission = hook->admission;
    yyjson_val *object = NULL;
    struct err err = answer->err;

    hook->call = NULL;
    if (err.code == 0 && kube_answer_object(answer, &object, &err) == 0) {
        backoff_reset(&hook->backoff);
        log_info(admission->service->log, "the certificate authority is trusted", log_str("configuration", hook->name));
        if (is_news(hook, object))
            keep(hook, object);
        return;
    }
    /* 422: somebody has changed it since, which the watch will show. */
    if (answer->status != 422 && answer->status != 404 && !kube_answer_is_conflict(answer))
        log_warn(admission->service->log, "the caBundle could not be written; trying again",
                 log_str("configuration", hook->name), log_error(&err));
    nsec_t wait = backoff_next(&hook->backoff, chance_next(kube_client_chance(admission->service->client)));
    hook->not_before = nsec_now_monotonic() + wait;
    loop_timer_start(&hook->timer, wait);
}

static void look(struct hook *hook)
{
    struct admission *admission = hook->admission;

    if (admission->is_stopping || hook->call || !hook->seen || !admission->vault.keyring.authority.cert_pem ||
        nsec_now_monotonic() < hook->not_before)
        return;
    yyjson_mut_doc *doc = make_patch(hook);
    if (!doc)
        return;
    size_t len = 0;
    _cleanup_(freep) char *body = yyjson_mut_write(doc, 0, &len);
    yyjson_mut_doc_free(doc);
    BUG_ON(!body);
    hook->call = kube_send(admission->service->client, &(struct kube_request){
                                                           .verb = KUBE_PATCH_JSON,
                                                           .resource = hook->resource,
                                                           .name = hook->name,
                                                           .body = body,
                                                           .body_len = len,
                                                           .is_repeatable = true,
                                                           .on_done = on_patched,
                                                           .arg = hook,
                                                       });
}

static void on_timer(void *arg)
{
    look(arg);
}

void hooks_look(struct admission *admission)
{
    for (size_t i = 0; i < HOOKS; i++)
        look(&admission->hooks[i]);
}

bool hooks_have_next(const struct admission *admission)
{
    for (size_t i = 0; i < HOOKS; i++) {
        const struct hook *hook = &admission->hooks[i];
        yyjson_val *webhook;
        size_t j, max;

        if (!follower_is_synced(hook->follower))
            return false;
        if (!hook->seen)
            continue;
        yyjson_arr_foreach(yyjson_obj_get(yyjson_doc_get_root(hook->seen), "webhooks"), j, max, webhook)
        {
            _cleanup_(freep) char *bundle = bundle_of(webhook);

            if (!keyring_bundle_has_next(&admission->vault.keyring, bundle))
                return false;
        }
    }
    return true;
}

static void on_event(void *arg, const struct follow_event *event)
{
    struct hook *hook = arg;

    if (event->change == FOLLOW_DELETED) {
        yyjson_doc_free(hook->seen);
        hook->seen = NULL;
    } else if (is_news(hook, event->object)) {
        keep(hook, event->object);
    }
}

static void on_synced(void *arg, bool is_first)
{
    (void)is_first;
    vault_look(((struct hook *)arg)->admission);
}

static void on_problem(void *arg, const struct err *err, nsec_t wait)
{
    const struct hook *hook = arg;

    service_follow_problem(hook->admission->service, hook->resource->kind, err, wait);
}

void hooks_start(struct admission *admission)
{
    for (size_t i = 0; i < HOOKS; i++) {
        struct hook *hook = &admission->hooks[i];
        char field[300];

        *hook = (struct hook){.admission = admission,
                              .resource = kube_known(kinds[i]),
                              .name = admission->flags->hook_names[i],
                              .backoff = {.first = RETRY_FIRST, .max = RETRY_MAX}};
        loop_timer_init(&hook->timer, admission->service->loop, on_timer, hook);
        (void)snprintf(field, sizeof field, "metadata.name=%s", hook->name);
        hook->follower = follower_new(admission->service->client, &(struct follow_options){
                                                                      .resource = hook->resource,
                                                                      .field_selector = field,
                                                                      .on_event = on_event,
                                                                      .on_synced = on_synced,
                                                                      .on_problem = on_problem,
                                                                      .arg = hook,
                                                                  });
    }
}

void hooks_done(struct admission *admission)
{
    for (size_t i = 0; i < HOOKS; i++) {
        struct hook *hook = &admission->hooks[i];

        follower_free(hook->follower);
        if (hook->call)
            kube_cancel(hook->call);
        loop_timer_done(&hook->timer);
        yyjson_doc_free(hook->seen);
    }
}
