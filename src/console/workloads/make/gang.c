/* SPDX-License-Identifier: Apache-2.0 */
#include "console/workloads/make/gang.h"

#include <stdio.h>
#include <string.h>

#include "console/data/items.h"
#include "console/org/wants.h"
#include "console/rest/context.h"
#include "console/workloads/facts.h"
#include "console/workloads/make/distributed.h"
#include "console/workloads/make/job.h"
#include "console/workloads/make/mpi.h"
#include "console/workloads/make/template.h"
#include "kube/client/meta.h"
#include "objects/keys.h"

enum { OBJECT_NAME_MAX = 80 };

bool gang_is_of(yyjson_val *item)
{
    return yyjson_obj_get(item, "masterSpec") || mpi_is_of(item);
}

static const char *rank_name(yyjson_val *item, int64_t rank, char name[static OBJECT_NAME_MAX])
{
    (void)snprintf(name, OBJECT_NAME_MAX, "%s-%lld", kube_text(item, "name"), (long long)rank);
    return name;
}

/* --- the PodGroup --- */

static yyjson_val *annotation(yyjson_val *item, const char *name)
{
    yyjson_val *pair;
    yyjson_arr_iter iter;

    yyjson_arr_iter_init(yyjson_ptr_get(item, "/spec/annotations"), &iter);
    while ((pair = yyjson_arr_iter_next(&iter))) {
        if (strcmp(kube_text(pair, "name"), name) == 0)
            return yyjson_obj_get(pair, "value");
    }
    return NULL;
}

static void put_topology(yyjson_mut_doc *doc, yyjson_val *item, yyjson_mut_val *spec)
{
    static const char *const rows[][2] = {{KEY_TOPOLOGY, "topology"},
                                          {KEY_TOPOLOGY_REQUIRED, "requiredTopologyLevel"},
                                          {KEY_TOPOLOGY_PREFERRED, "preferredTopologyLevel"}};

    if (!annotation(item, KEY_TOPOLOGY))
        return;
    yyjson_mut_val *to = yyjson_mut_obj_add_obj(doc, spec, "topologyConstraint");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *value = yyjson_get_str(annotation(item, rows[i][0]));

        if (value)
            put_text(doc, to, rows[i][1], value);
    }
}

static void want_group(const struct sync_item *item, yyjson_val *root, struct wants *wants)
{
    struct want *want =
        wants_add(wants, KUBE_POD_GROUPS, WANT_SAME, kube_text(root, "namespace"), kube_text(root, "name"));
    yyjson_mut_val *group = want_begin(want, item, ITEM_WORKLOAD);
    yyjson_mut_val *spec = yyjson_mut_obj_add_obj(want->doc, group, "spec");
    bool is_preemptible = yyjson_get_bool(yyjson_obj_get(root, "preemptible"));

    template_labels(want->doc, root, yyjson_mut_ptr_get(group, "/metadata/labels"));
    (void)yyjson_mut_obj_add_sint(want->doc, spec, "minMember", workload_pod_count(root));
    put_text(want->doc, spec, "queue", kube_text(root, "projectName"));
    put_text(want->doc, spec, "priorityClassName", kube_text(root, "priorityClassName"));
    put_text(want->doc, spec, "preemptibility", is_preemptible ? "preemptible" : "non-preemptible");
    put_topology(want->doc, root, spec);
}

/* --- the Jobs --- */

/* The master's own spec, with what is said of the training as a whole. */
static void put_master(yyjson_mut_doc *doc, yyjson_val *item, yyjson_val *master, yyjson_mut_val *to)
{
    static const char *const members[] = {"distributedFramework", "numWorkers", "slotsPerWorker", "sshAuthMountPath"};
    yyjson_mut_val *spec = yyjson_val_mut_copy(doc, master);

    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        yyjson_val *value = yyjson_obj_get(yyjson_obj_get(item, "spec"), members[i]);

        if (value)
            (void)yyjson_mut_obj_add_val(doc, spec, members[i], yyjson_val_mut_copy(doc, value));
    }
    (void)yyjson_mut_obj_put(to, yyjson_mut_str(doc, "spec"), spec);
}

/* The item as it would be if the workload were this rank alone. */
static yyjson_doc *item_of_rank(yyjson_val *item, int64_t rank)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *copy = yyjson_val_mut_copy(doc, item);
    yyjson_val *master = yyjson_obj_get(item, "masterSpec");

    (void)yyjson_mut_obj_add_sint(doc, copy, "rank", rank);
    if (rank == 0 && master)
        put_master(doc, item, master, copy);
    yyjson_mut_doc_set_root(doc, copy);
    yyjson_doc *made = yyjson_mut_doc_imut_copy(doc, NULL);
    BUG_ON(!made);
    yyjson_mut_doc_free(doc);
    return made;
}

static int want_rank(const struct sync_item *item, yyjson_val *root, int64_t rank, struct wants *wants, struct err *err)
{
    _cleanup_(json_doc_freep) yyjson_doc *own = item_of_rank(root, rank);
    char name[OBJECT_NAME_MAX];
    const struct job_ask ask = {yyjson_doc_get_root(own), rank_name(root, rank, name), 1};
    yyjson_mut_doc *doc = NULL;
    int r = job_want(item, &ask, wants, &doc, err);

    if (r < 0)
        return r;
    yyjson_mut_val *job = yyjson_mut_doc_get_root(doc);
    yyjson_mut_val *annotations = yyjson_mut_ptr_get(job, "/spec/template/metadata/annotations");
    yyjson_mut_val *pod = yyjson_mut_ptr_get(job, "/spec/template/spec");
    if (rank == 0)
        put_text(doc, yyjson_mut_ptr_get(job, "/metadata/labels"), OBJECT_LABEL_ROLE, ROLE_HEAD);
    put_text(doc, annotations, KEY_POD_GROUP, kube_text(root, "name"));
    put_text(doc, annotations, KEY_SKIP_GROUPER, "true");
    put_text(doc, pod, "hostname", name);
    put_text(doc, pod, "subdomain", kube_text(root, "name"));
    if (mpi_is_of(root))
        mpi_encode_pod(doc, ask.item, pod);
    return 0;
}

int gang_want(const struct sync_item *item, struct wants *wants, struct err *err)
{
    yyjson_val *root = yyjson_doc_get_root(item->doc);
    int64_t count = workload_pod_count(root);
    int r = mpi_is_of(root) ? mpi_want_files(item, wants, err) : 0;

    want_group(item, root, wants);
    for (int64_t rank = 0; r == 0 && rank < count; rank++)
        r = want_rank(item, root, rank, wants, err);
    return r;
}

/* A head that has failed itself keeps its pod and its log. */
static void want_head_stopped(yyjson_val *item, struct wants *wants)
{
    char name[OBJECT_NAME_MAX];
    struct want *want =
        wants_add(wants, KUBE_JOBS, WANT_LABELLED, kube_text(item, "namespace"), rank_name(item, 0, name));
    yyjson_mut_val *root;

    want->doc = json_new_object(&root);
    (void)yyjson_mut_obj_add_bool(want->doc, yyjson_mut_obj_add_obj(want->doc, root, "spec"), "suspend", true);
}

void gang_want_end(yyjson_val *item, struct wants *wants)
{
    char name[OBJECT_NAME_MAX];

    if (strcmp(kube_text(item, "status", "phase"), PHASE_FAILED) == 0)
        want_head_stopped(item, wants);
    if (strcmp(kube_text(item, "spec", "cleanPodPolicy"), "None") == 0)
        return;
    for (int64_t rank = 1; rank < workload_pod_count(item); rank++)
        (void)wants_add(wants, KUBE_JOBS, WANT_GONE, kube_text(item, "namespace"), rank_name(item, rank, name));
}
