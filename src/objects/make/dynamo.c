/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Dynamo: its operator writes a graph of services as one PodCliqueSet, for Grove to make pods of. A service is a clique;
 * one that spans nodes is a scaling group of a leader and its workers, which are needed together.
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "objects/make/maker.h"
#include "objects/reader.h"

#define QUEUE_ANNOTATION "nvidia.com/kai-scheduler-queue"
#define QUEUE_OF_OPERATOR "dynamo"

/* The PodCliqueSet in the making. */
struct graph {
    struct maker *maker;
    const struct object *owner;
    struct draft set;
    yyjson_mut_val *cliques;
    yyjson_mut_val *scaling;
    const char *queue;
};

/* One service; in v1beta1 it has a pod template, before that it says the same in words of its own. */
struct service {
    const char *name;
    struct json_at at;
    struct json_at template;
    int64_t replicas;
    int64_t nodes;
};

static int service_decode(struct maker *maker, const struct json_at *at, const char *name, struct service *ret_service,
                          struct err *err)
{
    struct json_at multinode;

    *ret_service = (struct service){.name = make_lower(maker, name), .at = *at, .replicas = 1, .nodes = 1};
    TRY(json_object(at, err));
    TRY(json_member_object(at, "multinode", JSON_OPTIONAL, &multinode, err));
    TRY(json_member_object(at, "podTemplate", JSON_OPTIONAL, &ret_service->template, err));
    TRY(json_member_int64(at, "replicas", JSON_OPTIONAL, 0, INT32_MAX, &ret_service->replicas, err));
    TRY(json_member_int64(&multinode, "nodeCount", JSON_OPTIONAL, 1, INT32_MAX, &ret_service->nodes, err));
    return 0;
}

/* "gpu" stands for NVIDIA's, or for the resource that `gpuType` names; whatever else is asked for is under `custom`. */
static void put_resources(struct draft *draft, yyjson_mut_val *container, const struct json_at *service)
{
    static const char *const parts[] = {"requests", "limits"};
    struct json_at resources = json_member(service, "resources");
    yyjson_mut_val *into = resources.val ? yyjson_mut_obj_add_obj(draft->doc, container, "resources") : NULL;

    for (size_t i = 0; into && i < ARRAY_LEN(parts); i++) {
        struct json_at part = json_member(&resources, parts[i]);
        struct json_at custom = json_member(&part, "custom");
        const char *type = json_peek_str(&part, "gpuType");

        if (!part.val)
            continue;
        yyjson_mut_val *list = yyjson_mut_obj_add_obj(draft->doc, into, parts[i]);
        for (struct json_at item = {0}; json_next(&part, &item);) {
            bool is_gpu = strcmp(item.key, "gpu") == 0;

            if (is_gpu || strcmp(item.key, "cpu") == 0 || strcmp(item.key, "memory") == 0)
                draft_put(draft, list, !is_gpu ? item.key : type ? type : "nvidia.com/gpu", &item);
        }
        draft_put_all(draft, list, &custom);
    }
}

/* The pod of a service, in `draft`'s spec. */
static void put_pod(struct draft *draft, const struct service *service)
{
    struct json_at of_template = json_member(&service->template, "spec");
    struct json_at extra = json_member(&service->at, "extraPodSpec");
    struct json_at main_container = json_member(&extra, "mainContainer");
    struct json_at resources = json_member(&main_container, "resources");

    if (of_template.val) {
        draft_put_all(draft, draft->spec, &of_template);
        return;
    }
    draft_put_placement(draft, &extra);
    yyjson_mut_val *container = draft_container(draft, "main", &resources);
    if (!resources.val)
        put_resources(draft, container, &service->at);
}

static void put_metadata(struct graph *graph, struct draft *clique, const struct service *service)
{
    struct json_at meta = json_member(&service->template, "metadata");
    struct json_at extra = json_member(&service->at, "extraPodMetadata");
    const struct json_at *const places[] = {&service->at, &extra, &meta};

    draft_put_str(clique, clique->labels, "nvidia.com/dynamo-graph-deployment-name", graph->owner->name);
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        struct json_at labels = json_member(places[i], "labels");
        struct json_at annotations = json_member(places[i], "annotations");

        draft_put_all(clique, clique->labels, &labels);
        draft_put_all(clique, clique->annotations, &annotations);
    }
}

/* The operator hands its pods to KAI unless the service names a scheduler. */
static void put_scheduler(struct graph *graph, struct draft *clique)
{
    const char *given = yyjson_mut_get_str(yyjson_mut_obj_get(clique->spec, "schedulerName"));
    const char *ours = graph->maker->options->scheduler_name;

    if (given && *given && strcmp(given, ours) != 0)
        return;
    draft_put_str(clique, clique->spec, "schedulerName", ours);
    draft_put_str(clique, clique->labels, KEY_QUEUE, graph->queue);
}

static void add_clique(struct graph *graph, const struct service *service, const char *name, int64_t replicas,
                       int64_t min)
{
    yyjson_mut_doc *doc = graph->set.doc;
    yyjson_mut_val *clique = yyjson_mut_arr_add_obj(doc, graph->cliques);
    yyjson_mut_val *spec = yyjson_mut_obj_add_obj(doc, clique, "spec");
    /* Written straight into the set's document. */
    struct draft draft = {
        .doc = doc,
        .labels = yyjson_mut_obj_add_obj(doc, clique, "labels"),
        .annotations = yyjson_mut_obj_add_obj(doc, clique, "annotations"),
        .spec = yyjson_mut_obj_add_obj(doc, spec, "podSpec"),
    };

    draft_put_str(&draft, clique, "name", name);
    (void)yyjson_mut_obj_add_int(doc, spec, "replicas", replicas);
    (void)yyjson_mut_obj_add_int(doc, spec, "minAvailable", min);
    put_pod(&draft, service);
    put_metadata(graph, &draft, service);
    put_scheduler(graph, &draft);
}

static void add_service(struct graph *graph, const struct service *service)
{
    yyjson_mut_doc *doc = graph->set.doc;

    if (service->nodes == 1 && service->replicas > 0)
        add_clique(graph, service, service->name, service->replicas, 1);
    if (service->nodes == 1 || service->replicas == 0)
        return;

    const char *leader = arena_printf(graph->maker->arena, "%s-ldr", service->name);
    const char *worker = arena_printf(graph->maker->arena, "%s-wkr", service->name);
    add_clique(graph, service, leader, 1, 1);
    add_clique(graph, service, worker, service->nodes - 1, service->nodes - 1);
    yyjson_mut_val *group = yyjson_mut_arr_add_obj(doc, graph->scaling);
    draft_put_str(&graph->set, group, "name", service->name);
    yyjson_mut_val *names = yyjson_mut_obj_add_arr(doc, group, "cliqueNames");
    (void)yyjson_mut_arr_add_strcpy(doc, names, leader);
    (void)yyjson_mut_arr_add_strcpy(doc, names, worker);
    (void)yyjson_mut_obj_add_int(doc, group, "replicas", service->replicas);
    (void)yyjson_mut_obj_add_int(doc, group, "minAvailable", 1);
}

static int add_services(struct graph *graph, const struct json_at *spec, struct err *err)
{
    struct json_at services;
    struct json_at components;
    struct service service;

    TRY(json_member_object(spec, "services", JSON_OPTIONAL, &services, err));
    TRY(json_member_array(spec, "components", JSON_OPTIONAL, &components, err));
    for (struct json_at item = {0}; json_next(&services, &item);) {
        TRY(service_decode(graph->maker, &item, item.key, &service, err));
        add_service(graph, &service);
    }
    for (struct json_at item = {0}; json_next(&components, &item);) {
        const char *name = NULL;

        TRY(json_member_str(&item, "name", JSON_REQUIRED, &name, err));
        TRY(service_decode(graph->maker, &item, name, &service, err));
        add_service(graph, &service);
    }
    return 0;
}

int make_dynamo(struct maker *maker, const struct object *owner, struct err *err)
{
    const char *queue = object_annotation(owner, QUEUE_ANNOTATION);
    struct graph graph = {.maker = maker, .owner = owner, .queue = queue ? queue : QUEUE_OF_OPERATOR};
    struct child child = {.api_version = "grove.io/v1alpha1", .kind = "PodCliqueSet", .name = owner->name};
    struct json_at spec;

    TRY(json_member_object(&owner->root, "spec", JSON_REQUIRED, &spec, err));
    draft_init(&graph.set);
    (void)yyjson_mut_obj_add_int(graph.set.doc, graph.set.spec, "replicas", 1);
    yyjson_mut_val *template = yyjson_mut_obj_add_obj(graph.set.doc, graph.set.spec, "template");
    graph.cliques = yyjson_mut_obj_add_arr(graph.set.doc, template, "cliques");
    graph.scaling = yyjson_mut_obj_add_arr(graph.set.doc, template, "podCliqueScalingGroups");
    int r = add_services(&graph, &spec, err);
    if (r < 0) {
        yyjson_mut_doc_free(graph.set.doc);
        return r;
    }
    return make_drafted(maker, owner, &child, &graph.set, err);
}
