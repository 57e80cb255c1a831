/* SPDX-License-Identifier: Apache-2.0 */
#include "console/workloads/make/distributed.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "console/data/items.h"
#include "console/org/wants.h"
#include "console/rest/context.h"
#include "console/workloads/make/gang.h"
#include "console/workloads/make/inference.h"
#include "console/workloads/spec.h"
#include "objects/keys.h"

#define INDEX_PATH "metadata.annotations['batch.kubernetes.io/job-completion-index']"
#define INDEX_VARIABLE "JOB_COMPLETION_INDEX"

enum { TEXT_BYTES_MAX = 24, CONFIG_BYTES_MAX = 1 << 20 };

static const char *text_at(yyjson_val *item, const char *pointer)
{
    const char *text = yyjson_get_str(yyjson_ptr_get(item, pointer));

    return text ? text : "";
}

static bool has_master(yyjson_val *item)
{
    return yyjson_get_bool(yyjson_obj_get(item, "masterSpecSameAsWorker")) || yyjson_obj_get(item, "masterSpec");
}

int64_t workload_pod_count(yyjson_val *item)
{
    yyjson_val *parallelism = yyjson_ptr_get(item, "/spec/parallelism");

    if (strcmp(text_at(item, "/type"), WORKLOAD_INFERENCE) == 0)
        return inference_replicas(yyjson_obj_get(item, "spec"));
    if (strcmp(text_at(item, "/type"), WORKLOAD_DISTRIBUTED) == 0)
        return yyjson_get_sint(yyjson_ptr_get(item, "/spec/numWorkers")) + has_master(item);
    return parallelism ? yyjson_get_sint(parallelism) : 1;
}

/* --- what was asked for --- */

static int check_framework(const char *framework, yyjson_mut_val *spec, struct err *err)
{
    const char *policy = yyjson_mut_get_str(yyjson_mut_obj_get(spec, "mpiLauncherCreationPolicy"));

    if (!framework)
        return err_set(err, -EINVAL, "spec.distributedFramework: expected PyTorch, TF, XGBoost, JAX or MPI");
    if (strcmp(framework, "MPI") != 0 && yyjson_mut_get_sint(yyjson_mut_obj_get(spec, "slotsPerWorker")) > 1)
        return err_set(err, -EINVAL, "spec.slotsPerWorker: it is for MPI, not for %s", framework);
    if (policy && strcmp(policy, "AtStartup") != 0)
        return err_set(
            err, -ENOSYS,
            "spec.mpiLauncherCreationPolicy: %s is not supported: the launcher starts together with the workers",
            policy);
    if (!yyjson_mut_obj_get(spec, "numWorkers"))
        return err_set(err, -EINVAL, "spec.numWorkers: it is required");
    if (yyjson_mut_obj_get(spec, "completions") || yyjson_mut_obj_get(spec, "parallelism"))
        return err_set(err, -ENOSYS,
                       "spec.completions and spec.parallelism are for trainings that are not distributed");
    return 0;
}

static int check_master(const char *framework, bool is_same, bool is_own, yyjson_mut_val *spec, struct err *err)
{
    bool is_mpi = strcmp(framework, "MPI") == 0;

    if (is_same && is_own)
        return err_set(err, -EINVAL, "masterSpec and masterSpecSameAsWorker exclude each other");
    if ((is_same || is_own) && strcmp(framework, "JAX") == 0)
        return err_set(err, -EINVAL, "%s: JAX has no master", is_own ? "masterSpec" : "masterSpecSameAsWorker");
    if (is_mpi && !is_same && !is_own)
        return err_set(err, -EINVAL, "masterSpec: MPI needs it for the launcher, or masterSpecSameAsWorker");
    if ((is_mpi || is_own) && yyjson_mut_get_sint(yyjson_mut_obj_get(spec, "numWorkers")) > GANG_WORKERS_MAX)
        return err_set(err, -EINVAL, "spec.numWorkers: up to %d workers are allowed beside a master that differs",
                       GANG_WORKERS_MAX);
    return 0;
}

int distributed_read(struct request *request, const struct workload_kind *kind, const struct place *place,
                     const struct json_at *body, yyjson_mut_val *spec, yyjson_mut_val *item, struct err *err)
{
    const char *framework = yyjson_mut_get_str(yyjson_mut_obj_get(spec, "distributedFramework"));
    yyjson_val *master = yyjson_obj_get(body->val, "masterSpec");
    bool is_own = master && !yyjson_is_null(master);
    yyjson_mut_val *own = NULL;
    bool is_same = false;
    int r = json_member_bool(body, "masterSpecSameAsWorker", JSON_OPTIONAL, &is_same, err);

    if (r < 0 || (r = check_framework(framework, spec, err)) < 0 ||
        (r = check_master(framework, is_same, is_own, spec, err)) < 0)
        return r;
    (void)yyjson_mut_obj_add_bool(request->doc, item, "masterSpecSameAsWorker", is_same);
    if (!is_own)
        return 0;
    if ((r = spec_read_part(request, kind, place, &(struct spec_part){"masterSpec", "master", NULL}, body, &own, err)) <
        0)
        return err_wrap(err, r, "masterSpec");
    (void)yyjson_mut_obj_add_val(request->doc, item, "masterSpec", own);
    return 0;
}

/* --- the Job --- */

void distributed_encode_job(yyjson_mut_doc *doc, yyjson_val *item, yyjson_mut_val *job)
{
    yyjson_mut_val *spec = yyjson_mut_obj_get(job, "spec");
    yyjson_mut_val *metadata = yyjson_mut_obj_get(job, "metadata");
    int64_t count = workload_pod_count(item);
    char text[TEXT_BYTES_MAX];

    (void)snprintf(text, sizeof text, "%lld", (long long)count);
    put_text(doc, yyjson_mut_obj_add_obj(doc, metadata, "annotations"), KEY_MIN_MEMBER, text);
    put_text(doc, spec, "completionMode", "Indexed");
    put_text(doc, yyjson_mut_ptr_get(spec, "/template/spec"), "subdomain", text_at(item, "/name"));
}

void distributed_want_service(const struct sync_item *item, struct wants *wants)
{
    yyjson_val *root = yyjson_doc_get_root(item->doc);
    struct want *want = wants_add(wants, KUBE_SERVICES, WANT_SAME, text_at(root, "/namespace"), text_at(root, "/name"));
    yyjson_mut_val *service = want_begin(want, item, ITEM_WORKLOAD);
    yyjson_mut_val *spec = yyjson_mut_obj_add_obj(want->doc, service, "spec");

    put_text(want->doc, spec, "clusterIP", "None");
    /* The ranks look for each other before any of them is ready. */
    (void)yyjson_mut_obj_add_bool(want->doc, spec, "publishNotReadyAddresses", true);
    put_text(want->doc, yyjson_mut_obj_add_obj(want->doc, spec, "selector"), OBJECT_LABEL_ID, item->id);
}

/* --- the variables --- */

static void put_variable(yyjson_mut_doc *doc, yyjson_mut_val *list, const char *name, const char *value)
{
    yyjson_mut_val *variable = yyjson_mut_arr_add_obj(doc, list);

    put_text(doc, variable, "name", name);
    put_text(doc, variable, "value", value);
}

static void put_number(yyjson_mut_doc *doc, yyjson_mut_val *list, const char *name, int64_t number)
{
    char text[TEXT_BYTES_MAX];

    (void)snprintf(text, sizeof text, "%lld", (long long)number);
    put_variable(doc, list, name, text);
}

/* The rank of a pod: its index in the Job, where it has no Job of its own. */
static void put_index(yyjson_mut_doc *doc, yyjson_val *item, yyjson_mut_val *list, const char *name)
{
    yyjson_val *rank = yyjson_obj_get(item, "rank");

    if (rank) {
        put_number(doc, list, name, yyjson_get_sint(rank));
        return;
    }
    yyjson_mut_val *variable = yyjson_mut_arr_add_obj(doc, list);
    put_text(doc, variable, "name", name);
    yyjson_mut_val *from = yyjson_mut_obj_add_obj(doc, variable, "valueFrom");
    put_text(doc, yyjson_mut_obj_add_obj(doc, from, "fieldRef"), "fieldPath", INDEX_PATH);
}

/* "name-0.name": the pod of rank 0, within the namespace. */
static void put_first(yyjson_mut_doc *doc, yyjson_val *item, yyjson_mut_val *list, const char *name)
{
    char host[160];

    (void)snprintf(host, sizeof host, "%s-0.%s", text_at(item, "/name"), text_at(item, "/name"));
    put_variable(doc, list, name, host);
}

/* torch.distributed's own, and those from which torchrun takes its options. */
static void encode_pytorch(yyjson_mut_doc *doc, yyjson_val *item, yyjson_mut_val *list)
{
    yyjson_val *devices = yyjson_ptr_get(item, "/spec/compute/gpuDevicesRequest");
    int64_t processes = yyjson_get_sint(devices);

    put_first(doc, item, list, "MASTER_ADDR");
    put_variable(doc, list, "MASTER_PORT", "23456");
    put_number(doc, list, "WORLD_SIZE", workload_pod_count(item));
    put_index(doc, item, list, "RANK");
    put_first(doc, item, list, "PET_MASTER_ADDR");
    put_variable(doc, list, "PET_MASTER_PORT", "23456");
    put_number(doc, list, "PET_NNODES", workload_pod_count(item));
    put_index(doc, item, list, "PET_NODE_RANK");
    put_number(doc, list, "PET_NPROC_PER_NODE", processes > 0 ? processes : 1);
}

static void encode_xgboost(yyjson_mut_doc *doc, yyjson_val *item, yyjson_mut_val *list)
{
    put_first(doc, item, list, "MASTER_ADDR");
    put_variable(doc, list, "MASTER_PORT", "9999");
    put_number(doc, list, "WORLD_SIZE", workload_pod_count(item));
    put_index(doc, item, list, "RANK");
}

static void encode_jax(yyjson_mut_doc *doc, yyjson_val *item, yyjson_mut_val *list)
{
    put_first(doc, item, list, "COORDINATOR_ADDRESS");
    put_variable(doc, list, "COORDINATOR_PORT", "6666");
    put_number(doc, list, "NUM_PROCESSES", workload_pod_count(item));
    put_index(doc, item, list, "PROCESS_ID");
}

/* The index is the variable of the Job's controller, which Kubernetes fills in: TensorFlow takes
 * worker 0 as the chief where no other is named. */
static void encode_tensorflow(yyjson_mut_doc *doc, yyjson_val *item, yyjson_mut_val *list)
{
    int64_t count = workload_pod_count(item);
    const char *name = text_at(item, "/name");
    struct strbuf text;

    put_index(doc, item, list, INDEX_VARIABLE);
    strbuf_init(&text, CONFIG_BYTES_MAX);
    strbuf_addstr(&text, "{\"cluster\":{\"worker\":[");
    for (int64_t i = 0; i < count; i++)
        strbuf_addf(&text, "%s\"%s-%lld.%s:2222\"", i > 0 ? "," : "", name, (long long)i, name);
    strbuf_addstr(&text, "]},\"task\":{\"type\":\"worker\",\"index\":$(" INDEX_VARIABLE ")}}");
    put_variable(doc, list, "TF_CONFIG", text.text);
    strbuf_done(&text);
}

static const struct {
    const char *name;
    void (*encode)(yyjson_mut_doc *doc, yyjson_val *item, yyjson_mut_val *list);
} frameworks[] = {
    {"PyTorch", encode_pytorch},
    {"TF", encode_tensorflow},
    {"XGBoost", encode_xgboost},
    {"JAX", encode_jax},
};

void distributed_encode_variables(yyjson_mut_doc *doc, yyjson_val *item, yyjson_mut_val *list)
{
    const char *framework = text_at(item, "/spec/distributedFramework");

    for (size_t i = 0; i < ARRAY_LEN(frameworks); i++) {
        if (strcmp(frameworks[i].name, framework) == 0)
            frameworks[i].encode(doc, item, list);
    }
}
