/* SPDX-License-Identifier: Apache-2.0 */

/* Makes one object as it should be: created, changed, or deleted. A failure is tried again after a growing delay. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "kube/client/chance.h"
#include "kube/client/modify.h"
#include "kube/client/verbs.h"
#include "services/operator/merge.h"
#include "services/operator/operator_internal.h"

struct write {
    struct operator* operator;
    struct owned *owned;
    yyjson_mut_doc *doc;  // a copy of what is wanted: the source may change meanwhile
    char owner_name[256];
    char owner_uid[UID_MAX];
    uint64_t wanted;
    bool is_replaced;  // what is there cannot be changed into what is wanted
    struct kube_call *call;
    struct kube_modify *modify;
};

static void write_free(struct write *write)
{
    write->owned->write = NULL;
    yyjson_mut_doc_free(write->doc);
    free(write);
}

void owned_write_cancel(struct owned *owned)
{
    struct write *write = owned->write;

    if (!write)
        return;
    kube_cancel(write->call);
    kube_modify_cancel(write->modify);
    write_free(write);
}

static struct log_field object_field(const struct owned *owned)
{
    return log_str("object", owned->name);
}

static void fail(struct write *write, const struct err *err)
{
    struct operator* operator= write->operator;
    struct owned *owned = write->owned;
    nsec_t wait = backoff_next(&owned->backoff, chance_next(kube_client_chance(operator->service->client)));

    owned->err = *err;
    owned->due = nsec_now_monotonic() + wait;
    meter_add(operator->failures, 1);
    log_warn(operator->service->log, "object could not be written",
             log_str("kind", owned_rows[owned->kind].resource.kind), object_field(owned), log_error(err),
             log_duration("again_after", wait));
    write_free(write);
    operator_wake(operator);
}

static void succeed(struct write *write, yyjson_val *object, const char *what)
{
    struct operator* operator= write->operator;
    struct owned *owned = write->owned;

    owned_see_answer(owned, object);
    owned->done_wanted = write->wanted;
    owned->err = (struct err){0};
    owned->due = 0;
    backoff_reset(&owned->backoff);
    meter_add(operator->writes, 1);
    log_debug(operator->service->log, what, log_str("kind", owned_rows[owned->kind].resource.kind),
              object_field(owned));
    write_free(write);
    operator_wake(operator);
}

static struct merge_owner owner_of(const struct write *write)
{
    return (struct merge_owner){"kai.scheduler/v1", "Config", write->owner_name, write->owner_uid};
}

static void on_deleted(void *arg, const struct kube_answer *answer)
{
    struct write *write = arg;

    write->call = NULL;
    if (answer->err.code < 0 && answer->status != 404) {
        fail(write, &answer->err);
        return;
    }
    /* The watch says when it is gone; until then it counts as there. */
    if (answer->status == 404)
        owned_gone(write->owned);
    write->owned->owner[0] = '\0';
    write->owned->done_wanted = 0;
    write_free(write);
}

static void delete_object(struct write *write)
{
    struct owned *owned = write->owned;

    write->call = kube_delete(write->operator->service->client, &(struct kube_delete_request){
                                                                    .resource = &owned_rows[owned->kind].resource,
                                                                    .namespace = owned->namespace,
                                                                    .name = owned->name,
                                                                    .uid = owned->uid,
                                                                    .propagation = "Background",
                                                                    .grace_s = -1,
                                                                    .on_done = on_deleted,
                                                                    .arg = write,
                                                                });
}

static yyjson_mut_val *at(yyjson_mut_val *object, const char *key, const char *inner)
{
    return yyjson_mut_obj_get(yyjson_mut_obj_get(object, key), inner);
}

/* Selectors of Deployments and the address of a Service stay as they were created. */
static bool is_fixed(enum owned_kind kind, yyjson_mut_val *live, yyjson_mut_val *wanted)
{
    if (kind == OWNED_DEPLOYMENT || kind == OWNED_DAEMON_SET)
        return !yyjson_mut_equals(at(live, "spec", "selector"), at(wanted, "spec", "selector"));
    if (kind == OWNED_SERVICE)
        return yyjson_mut_equals_str(at(live, "spec", "clusterIP"), "None") !=
               yyjson_mut_equals_str(at(wanted, "spec", "clusterIP"), "None");
    return false;
}

static int change(void *arg, yyjson_mut_doc *doc, yyjson_mut_val *object, struct err *err)
{
    struct write *write = arg;
    yyjson_mut_val *wanted = yyjson_mut_doc_get_root(write->doc);
    const struct merge_owner owner = owner_of(write);

    (void)err;
    write->is_replaced = is_fixed(write->owned->kind, object, wanted);
    if (write->is_replaced)
        return 0;
    merge_into(doc, object, write->owned->kind, wanted, &owner);
    return 1;
}

static void on_changed(void *arg, const struct kube_answer *answer)
{
    struct write *write = arg;
    yyjson_val *object = NULL;
    struct err err = answer->err;

    write->modify = NULL;
    if (answer->status == 404) {
        owned_gone(write->owned);
        write_free(write);
        return;
    }
    if (err.code == 0 && write->is_replaced) {
        delete_object(write);
        return;
    }
    if (err.code < 0 || kube_answer_object(answer, &object, &err) < 0)
        fail(write, &err);
    else
        succeed(write, object, "object updated");
}

static void change_object(struct write *write)
{
    write->modify =
        kube_modify_start(write->operator->service->client, &(struct kube_modify_request){
                                                                .resource = &owned_rows[write->owned->kind].resource,
                                                                .namespace = write->owned->namespace,
                                                                .name = write->owned->name,
                                                                .change = change,
                                                                .on_done = on_changed,
                                                                .arg = write,
                                                            });
}

static void on_created(void *arg, const struct kube_answer *answer)
{
    struct write *write = arg;
    yyjson_val *object = NULL;
    struct err err = answer->err;

    write->call = NULL;
    if (err.code < 0 && strcmp(answer->reason, "AlreadyExists") == 0)
        change_object(write);  // it is taken over
    else if (err.code < 0 || kube_answer_object(answer, &object, &err) < 0)
        fail(write, &err);
    else
        succeed(write, object, "object created");
}

static void create_object(struct write *write)
{
    const struct merge_owner owner = owner_of(write);
    yyjson_mut_doc *doc = merge_new(yyjson_mut_doc_get_root(write->doc), &owner);

    write->call = kube_send_doc(write->operator->service->client,
                                &(struct kube_request){
                                    .verb = KUBE_CREATE,
                                    .resource = &owned_rows[write->owned->kind].resource,
                                    .namespace = write->owned->namespace,
                                    .on_done = on_created,
                                    .arg = write,
                                },
                                doc);
    yyjson_mut_doc_free(doc);
}

static struct write *write_new(struct operator* operator, struct owned * owned)
{
    struct write *write = xcalloc(1, sizeof *write);

    write->operator= operator;
    write->owned = owned;
    write->wanted = owned->wanted;
    (void)snprintf(write->owner_name, sizeof write->owner_name, "%s", operator->config->name);
    (void)snprintf(write->owner_uid, sizeof write->owner_uid, "%s", operator->config->uid);
    owned->write = write;
    return write;
}

void owned_write(struct operator* operator, struct owned * owned)
{
    struct write *write = write_new(operator, owned);

    write->doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_doc_set_root(write->doc, yyjson_mut_val_mut_copy(write->doc, owned->object));
    if (owned->is_there)
        change_object(write);
    else
        create_object(write);
}

void owned_remove(struct operator* operator, struct owned * owned)
{
    delete_object(write_new(operator, owned));
}
