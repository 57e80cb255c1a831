/* SPDX-License-Identifier: Apache-2.0 */
#include "local/setup/setup.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frame/service.h"
#include "frame/work.h"
#include "services/operator/crds.h"
#include "text/yaml.h"

enum { WORKERS = 8, CRDS_MAX = 16 };

/* Objects beside the CRDs. They wait for the CRDs by trying again. */
static const struct {
    enum kube_known known;
    const char *text;
} objects[] = {
    {KUBE_PRIORITY_CLASSES,
     "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: train}, value: 50}"},
    {KUBE_PRIORITY_CLASSES,
     "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: build-preemptible}, value: 75}"},
    {KUBE_PRIORITY_CLASSES,
     "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: build}, value: 100}"},
    {KUBE_PRIORITY_CLASSES,
     "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: inference}, value: 125}"},
    /* The address of the API server inside a cluster; nothing answers there, but clients and test suites look for it. */
    {KUBE_SERVICES,
     "{apiVersion: v1, kind: Service, metadata: {name: kubernetes, labels: {component: apiserver, provider: "
     "kubernetes}}, spec: {ports: [{name: https, port: 443, protocol: TCP, targetPort: 6443}]}}"},
    {KUBE_NAMESPACES, "{apiVersion: v1, kind: Namespace, metadata: {name: kai-resource-reservation}}"},
    {KUBE_QUEUES,
     "{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: default-parent-queue}, spec: {resources: "
     "{cpu: {quota: -1, limit: -1, overQuotaWeight: 1}, gpu: {quota: -1, limit: -1, overQuotaWeight: 1}, memory: "
     "{quota: -1, limit: -1, overQuotaWeight: 1}}}}"},
    {KUBE_QUEUES,
     "{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: default-queue}, spec: {parentQueue: "
     "default-parent-queue, resources: {cpu: {quota: -1, limit: -1, overQuotaWeight: 1}, gpu: {quota: -1, limit: -1, "
     "overQuotaWeight: 1}, memory: {quota: -1, limit: -1, overQuotaWeight: 1}}}}"},
};

struct part {
    struct setup *setup;
    struct work_item work;
    struct kube_call *call;
    const struct kube_resource *resource;
    const char *name;  // of a CRD
    char *body;
    size_t len;
    bool is_crd, is_there, is_done;
};

struct setup {
    struct service *service;
    struct work *work;
    struct part parts[CRDS_MAX + ARRAY_LEN(objects)];
    size_t count, done;
};

static void on_done(void *arg, const struct kube_answer *answer)
{
    struct part *part = arg;
    struct setup *setup = part->setup;
    struct err err = answer->err;

    part->call = NULL;
    if (answer->status == 409) {
        err.code = 0;
        part->is_done = !part->is_crd || part->is_there;
        part->is_there = true;
        if (!part->is_done)
            work_add(setup->work, &part->work);
    } else {
        part->is_done = err.code == 0;
    }
    if (err.code < 0 && answer->status != 404)
        log_warn(setup->service->log, "an initial object could not be created; trying again later",
                 log_str("kind", part->resource->kind), log_error(&err));
    setup->done += part->is_done;
    if (setup->done == setup->count)
        service_set_ready(setup->service, true);
    work_done(setup->work, &part->work, &err);
}

static void start(void *arg, struct work_item *item)
{
    struct setup *setup = arg;
    struct part *part = list_item(&item->in_work, struct part, work.in_work);

    /* Those of a former release get what has changed since. */
    part->call = kube_send(setup->service->client, &(struct kube_request){
                                                       .verb = part->is_there ? KUBE_PATCH_MERGE : KUBE_CREATE,
                                                       .resource = part->resource,
                                                       .namespace = part->resource->is_namespaced ? "default" : NULL,
                                                       .name = part->is_there ? part->name : NULL,
                                                       .body = part->body,
                                                       .body_len = part->len,
                                                       .is_repeatable = true,
                                                       .on_done = on_done,
                                                       .arg = part,
                                                   });
}

static bool may_start(void *arg)
{
    (void)arg;
    return true;
}

static void add_part(struct setup *setup, enum kube_known known, const char *name, const char *text, size_t len)
{
    struct part *part = &setup->parts[setup->count++];
    struct yaml_docs docs = {0};
    struct err err;

    BUG_ON(yaml_parse(text, len, kube_known(known)->kind, &docs, &err) < 0 || docs.len != 1);
    part->setup = setup;
    part->resource = kube_known(known);
    part->is_crd = known == KUBE_CUSTOM_RESOURCE_DEFINITIONS;
    part->name = name;
    part->body = yyjson_write(docs.items[0].json, 0, &part->len);
    BUG_ON(!part->body);
    yaml_docs_done(&docs);
}

static int open_setup(struct service *service, struct err *err)
{
    struct setup *setup = xcalloc(1, sizeof *setup);

    (void)err;
    service->state = setup;
    setup->service = service;
    setup->work = work_new(&(struct work_options){
        .service = service,
        .controller = "setup",
        .workers = WORKERS,
        .may_start = may_start,
        .start = start,
        .arg = setup,
    });
    for (const struct release_crd *crd; setup->count < CRDS_MAX && (crd = release_crd_at(setup->count));)
        add_part(setup, KUBE_CUSTOM_RESOURCE_DEFINITIONS, crd->name, crd->text, *crd->len);
    for (size_t i = 0; i < ARRAY_LEN(objects); i++)
        add_part(setup, objects[i].known, NULL, objects[i].text, strlen(objects[i].text));
    return 0;
}

static void lead(struct service *service)
{
    struct setup *setup = service->state;

    for (size_t i = 0; i < setup->count; i++)
        work_add(setup->work, &setup->parts[i].work);
}

static void stop(struct service *service)
{
    work_stop(((struct setup *)service->state)->work);
}

static void close_setup(struct service *service)
{
    struct setup *setup = service->state;

    for (size_t i = 0; i < setup->count; i++) {
        if (setup->parts[i].call)
            kube_cancel(TAKE_PTR(setup->parts[i].call));
        work_drop(setup->work, &setup->parts[i].work);
        free(setup->parts[i].body);
    }
    work_free(setup->work);
    free(setup);
}

const struct service_kind setup_service = {
    .name = "setup",
    .has_api = true,
    .can_elect = true,
    .open = open_setup,
    .lead = lead,
    .stop = stop,
    .close = close_setup,
};
