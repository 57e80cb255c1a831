/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The services in this process. A Deployment that is desired stands for a service here, and its container's arguments for
 * the service's flags; a service whose flags change ends in order and starts anew, while the others go on.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "frame/host.h"
#include "kube/client/chance.h"
#include "services/operator/operator_internal.h"
#include "services/operator/pack.h"
#include "text/json.h"

/* No service has more flags. */
enum { ARGS_MAX = 128 };

struct hosted_service {
    struct operator* operator;
    struct owned *owned;
    struct service *service;  // NULL: it could not be started, or has ended
    bool is_ending;
};

/* Services that need objects in the cluster are not assumed: nothing would own those. */
#define ASSUMED_SPEC                                                                                  \
    "{spec: {admission: {service: {enabled: false}}, nodeScaleAdjuster: {service: {enabled: false}}," \
    " numaPlacementExporter: {service: {enabled: false}}, namespace: %s}}"

static struct source *assume(struct operator* operator, const char * name, bool is_config)
{
    yyjson_mut_doc *doc = json_new_object(NULL);

    yyjson_mut_doc_set_root(doc,
                            is_config ? pack(doc, ASSUMED_SPEC, operator->flags->namespace) : pack(doc, "{spec: {}}"));
    yyjson_doc *object = yyjson_mut_doc_imut_copy(doc, NULL);
    struct source *source = source_new(operator, name, "assumed", yyjson_doc_get_root(object), is_config);

    source->is_assumed = true;
    yyjson_doc_free(object);
    yyjson_mut_doc_free(doc);
    return source;
}

/* Takes the assumed shard away where there is one. */
static void forget_assumed_shard(struct operator* operator)
{
    for (uint32_t i = 0; i < operator->shards.len; i++) {
        struct source *shard = operator->shards.items[i];

        if (!shard->is_assumed)
            continue;
        vec_remove_at(&operator->shards, i);
        forget_source(operator, shard);
        return;
    }
}

void hosting_assume(struct operator* operator)
{
    bool has_shards = false;

    if (!operator->config) {
        log_info(operator->service->log, "there is no Config; using the defaults", log_str("config", CONFIG_NAME));
        operator->config = assume(operator, CONFIG_NAME, true);
    }
    vec_foreach (&operator->shards, shard)
        has_shards = has_shards || !(*shard)->is_assumed;
    if (has_shards || !operator->config->is_assumed)
        forget_assumed_shard(operator);
    else if (operator->shards.len == 0)
        vec_push(&operator->shards, assume(operator, "default", false));
}

yyjson_mut_val *hosting_args(yyjson_mut_val *deployment)
{
    yyjson_mut_val *containers = yyjson_mut_ptr_get(deployment, "/spec/template/spec/containers");

    return yyjson_mut_obj_get(yyjson_mut_arr_get_first(containers), "args");
}

static void on_ready(void *arg, bool is_ready)
{
    struct hosted_service *hosted = arg;

    hosted->owned->is_available = is_ready;
    operator_wake(hosted->operator);
}

static void on_over(void *arg)
{
    struct hosted_service *hosted = arg;

    owned_gone(hosted->owned);
    operator_wake(hosted->operator);
    hosting_free(hosted->owned);
}

/* The arguments but the first, which is the command. */
static size_t list_args(yyjson_mut_val *args, const char *list[static ARGS_MAX])
{
    size_t count = 0, i, max;
    yyjson_mut_val *arg;

    yyjson_mut_arr_foreach(args, i, max, arg) if (i > 0 && count < ARGS_MAX) list[count++] = yyjson_mut_get_str(arg);
    return count;
}

static void fail(struct operator* operator, struct owned * owned, const struct err *err)
{
    nsec_t wait = backoff_next(&owned->backoff, chance_next(kube_client_chance(operator->service->client)));

    owned->err = *err;
    owned->due = nsec_now_monotonic() + wait;
    meter_add(operator->failures, 1);
    log_warn(operator->service->log, "service could not be started", log_str("service", owned->name), log_error(err),
             log_duration("again_after", wait));
    operator_wake(operator);
}

static void start(struct operator* operator, struct owned * owned)
{
    yyjson_mut_val *args = hosting_args(owned->object);
    struct hosted_service *hosted = xcalloc(1, sizeof *hosted);
    const char *list[ARGS_MAX];
    struct err err = {0};

    hosted->operator= operator;
    hosted->owned = owned;
    owned->hosted = hosted;
    owned->is_available = false;
    int r = host_start(operator->service,
                       &(struct host_options){
                           .kind = yyjson_mut_get_str(yyjson_mut_arr_get_first(args)),
                           .name = owned->name,
                           .argv = list,
                           .argc = list_args(args, list),
                           .on_ready = on_ready,
                           .on_over = on_over,
                           .arg = hosted,
                       },
                       &hosted->service, &err);
    if (r < 0) {
        hosting_free(owned);
        fail(operator, owned, &err);
        return;
    }
    owned->is_there = true;
    owned->done_wanted = owned->wanted;
    (void)snprintf(owned->owner, sizeof owned->owner, "%s", operator->config->uid);
    owned->err = (struct err){0};
    owned->due = 0;
    backoff_reset(&owned->backoff);
    meter_add(operator->writes, 1);
    operator_wake(operator);
}

void hosting_settle(struct operator* operator, struct owned * owned)
{
    struct hosted_service *hosted = owned->hosted;

    if (!hosted) {
        start(operator, owned);
        return;
    }
    if (hosted->is_ending)
        return;
    /* Another Config of the same content takes it over as it is. */
    if (owned->source && owned->done_wanted == owned->wanted) {
        (void)snprintf(owned->owner, sizeof owned->owner, "%s", operator->config->uid);
        return;
    }
    hosted->is_ending = true;
    host_end(hosted->service);
}

void hosting_free(struct owned *owned)
{
    free(TAKE_PTR(owned->hosted));
}
