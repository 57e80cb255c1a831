/* SPDX-License-Identifier: Apache-2.0 */

/*
 * muster export: the objects of a server as manifests for a Kubernetes cluster. What people wrote is exported, and not what
 * controllers made from it; members that a server fills in are left out, so that the other server fills in its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "cli/commands.h"
#include "cli/work/api.h"
#include "kube/client/meta.h"
#include "local/controllers/values.h"
#include "text/yaml.h"

enum { OPTION_SECRETS = API_OPTION_COUNT, VERSION_BYTES_MAX = 256 };

static const struct command_option options[] = {
    API_OPTIONS,
    [OPTION_SECRETS] = {0, "secrets", NULL, NULL, "export Secrets as well"},
};

/* --- what is exported --- */

static bool has_name(const char *name, const char *const *names)
{
    for (; *names; names++) {
        if (strcmp(name, *names) == 0)
            return true;
    }
    return false;
}

static const char *const own_namespaces[] = {
    "default", "kube-system", "kube-public", "kube-node-lease", "kai-resource-reservation", NULL};
static const char *const system_namespaces[] = {"kube-system", "kube-public", "kube-node-lease",
                                                "kai-resource-reservation", NULL};

static bool is_made_by_system(yyjson_val *object, const struct kube_resource *resource)
{
    const char *name = kube_text(object, "metadata", "name");

    if (resource == kube_known(KUBE_NAMESPACES))
        return has_name(name, own_namespaces);
    if (resource == kube_known(KUBE_SERVICE_ACCOUNTS))
        return strcmp(name, "default") == 0;
    if (resource == kube_known(KUBE_CONFIG_MAPS))
        return strcmp(name, "kube-root-ca.crt") == 0;
    if (resource == kube_known(KUBE_PRIORITY_CLASSES))
        return strncmp(name, "system-", strlen("system-")) == 0;
    if (resource == kube_known(KUBE_SERVICES))
        return strcmp(name, "kubernetes") == 0;
    return false;
}

static bool has_condition(yyjson_val *object, const char *type)
{
    return strcmp(kube_text(condition_of(object, type), "status"), "True") == 0;
}

/* Work that is over would run again. */
static bool is_over(yyjson_val *object)
{
    const char *phase = kube_text(object, "status", "phase");

    return strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0 || has_condition(object, "Complete") ||
           has_condition(object, "Failed");
}

static bool is_wanted(yyjson_val *object, const struct kube_resource *resource)
{
    return !has_name(kube_text(object, "metadata", "namespace"), system_namespaces) &&
           yyjson_arr_size(value_at(object, "metadata", "ownerReferences")) == 0 &&
           !value_at(object, "metadata", "deletionTimestamp") && !is_made_by_system(object, resource) &&
           (resource == kube_known(KUBE_NAMESPACES) || !is_over(object));
}

/* --- what is left out of them --- */

static yyjson_mut_val *member(yyjson_mut_val *object, const char *name)
{
    return yyjson_mut_obj_get(object, name);
}

static void drop(yyjson_mut_val *object, const char *const *names)
{
    for (; object && *names; names++)
        (void)yyjson_mut_obj_remove_key(object, *names);
}

static void drop_if_empty(yyjson_mut_val *object, const char *name)
{
    yyjson_mut_val *value = member(object, name);

    if (value && (yyjson_mut_obj_size(value) + yyjson_mut_arr_size(value)) == 0)
        (void)yyjson_mut_obj_remove_key(object, name);
}

/* Labels and annotations that Muster's services and controllers write. */
static void drop_marks(yyjson_mut_val *metadata)
{
    static const char *const marks[] = {"kubectl.kubernetes.io/last-applied-configuration",
                                        "deployment.kubernetes.io/revision",
                                        "kubernetes.io/metadata.name",
                                        "pod-group-name",
                                        "runai-gpu-group",
                                        "received-resource-type",
                                        "controller-uid",
                                        "job-name",
                                        "batch.kubernetes.io/controller-uid",
                                        "batch.kubernetes.io/job-name",
                                        NULL};
    static const char *const maps[] = {"annotations", "labels"};
    static const char prefix[] = "muster.scheduler/";

    for (size_t i = 0; i < ARRAY_LEN(maps); i++) {
        yyjson_mut_val *map = member(metadata, maps[i]);
        yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(map);

        for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
            const char *name = yyjson_mut_get_str(key);

            if (has_name(name, marks) || strncmp(name, prefix, sizeof prefix - 1) == 0)
                (void)yyjson_mut_obj_iter_remove(&iter);
        }
        drop_if_empty(metadata, maps[i]);
    }
}

/* Those that the API server adds to every pod. */
static void drop_tolerations(yyjson_mut_val *spec)
{
    yyjson_mut_val *list = member(spec, "tolerations");

    for (size_t i = yyjson_mut_arr_size(list); i > 0; i--) {
        yyjson_mut_val *row = yyjson_mut_arr_get(list, i - 1), *key = member(row, "key");
        bool is_default = yyjson_mut_equals_str(key, "node.kubernetes.io/not-ready") ||
                          yyjson_mut_equals_str(key, "node.kubernetes.io/unreachable");

        if (is_default && yyjson_mut_get_int(member(row, "tolerationSeconds")) == 300)
            (void)yyjson_mut_arr_remove(list, i - 1);
    }
    drop_if_empty(spec, "tolerations");
}

static void clean_pod_spec(yyjson_mut_val *spec)
{
    static const char *const members[] = {"nodeName", "serviceAccount", "priority", "preemptionPolicy", NULL};

    if (!spec)
        return;
    drop(spec, members);
    drop_tolerations(spec);
}

static void clean_template(yyjson_mut_val *template)
{
    static const char *const members[] = {"creationTimestamp", NULL};
    yyjson_mut_val *metadata = member(template, "metadata");

    drop(metadata, members);
    if (metadata)
        drop_marks(metadata);
    clean_pod_spec(member(template, "spec"));
}

/* The selector of a Job names the UID of the old one, unless somebody chose another. */
static void clean_job_spec(yyjson_mut_val *spec)
{
    if (!spec)
        return;
    if (!yyjson_mut_get_bool(member(spec, "manualSelector")))
        (void)yyjson_mut_obj_remove_key(spec, "selector");
    clean_template(member(spec, "template"));
}

static void clean(yyjson_mut_val *object, const struct kube_resource *resource)
{
    static const char *const top[] = {"status", NULL};
    static const char *const meta[] = {
        "uid",        "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink",
        "finalizers", "generateName",    NULL};
    static const char *const service[] = {"clusterIP", "clusterIPs", NULL};
    static const char *const finalizers[] = {"finalizers", NULL};
    yyjson_mut_val *metadata = member(object, "metadata"), *spec = member(object, "spec");

    drop(object, top);
    drop(metadata, meta);
    drop_marks(metadata);
    if (resource == kube_known(KUBE_PODS))
        clean_pod_spec(spec);
    else if (resource == kube_known(KUBE_JOBS))
        clean_job_spec(spec);
    else if (resource == kube_known(KUBE_CRON_JOBS))
        clean_job_spec(member(member(spec, "jobTemplate"), "spec"));
    else if (resource == kube_known(KUBE_SERVICES))
        drop(spec, service);
    else if (resource == kube_known(KUBE_NAMESPACES))
        drop(spec, finalizers);
    else if (resource != kube_known(KUBE_QUEUES))
        clean_template(member(spec, "template"));
    drop_if_empty(object, "spec");
}

/* --- writing --- */

/* Items of a list need not say what they are. Members come in the order in which people write them. */
static yyjson_mut_val *object_of(yyjson_mut_doc *doc, yyjson_val *object, const struct kube_resource *resource)
{
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    const char *slash = *resource->group ? "/" : "";
    char version[VERSION_BYTES_MAX];
    size_t i, max;
    yyjson_val *key, *value;

    (void)snprintf(version, sizeof version, "%s%s%s", resource->group, slash, resource->version);
    (void)yyjson_mut_obj_add_strcpy(doc, root, "apiVersion", version);
    (void)yyjson_mut_obj_add_str(doc, root, "kind", resource->kind);
    yyjson_obj_foreach(object, i, max, key, value)
    {
        if (!yyjson_equals_str(key, "apiVersion") && !yyjson_equals_str(key, "kind"))
            (void)yyjson_mut_obj_add_val(doc, root, yyjson_get_str(key), yyjson_val_mut_copy(doc, value));
    }
    return root;
}

static void print_object(yyjson_val *object, const struct kube_resource *resource)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = object_of(doc, object, resource);

    yyjson_mut_doc_set_root(doc, root);
    clean(root, resource);
    yyjson_doc *copy = yyjson_mut_doc_imut_copy(doc, NULL);
    printf("---\n");
    yaml_write(yyjson_doc_get_root(copy), stdout);
    yyjson_doc_free(copy);
    yyjson_mut_doc_free(doc);
}

/* In an order in which they can be created. */
static const enum kube_known exported[] = {
    KUBE_NAMESPACES,   KUBE_PRIORITY_CLASSES, KUBE_TOPOLOGIES, KUBE_QUEUES,        KUBE_SERVICE_ACCOUNTS,
    KUBE_CONFIG_MAPS,  KUBE_SECRETS,          KUBE_SERVICES,   KUBE_STATEFUL_SETS, KUBE_DEPLOYMENTS,
    KUBE_REPLICA_SETS, KUBE_CRON_JOBS,        KUBE_JOBS,       KUBE_PODS,
};

static int export_kind(struct api *api, const struct kube_resource *resource, const char *namespace, struct err *err)
{
    struct api_objects objects = {0};
    int code = api_list(api, resource, resource->is_namespaced ? namespace : NULL, NULL, &objects, err);

    for (uint32_t i = 0; code == 0 && i < objects.len; i++) {
        yyjson_val *object = yyjson_doc_get_root(objects.items[i]);

        if (is_wanted(object, resource))
            print_object(object, resource);
    }
    api_objects_done(&objects);
    return code;
}

static int run_export(const struct command *command, struct arguments *arguments)
{
    struct api_place place = {0};
    struct err err = {0};
    struct api api = {0};
    bool has_secrets = false;
    int option;

    while ((option = arguments_next(arguments)) >= 0) {
        if (option == OPTION_SECRETS)
            has_secrets = true;
        else
            (void)api_place_set(&place, option, arguments->value);
    }
    if (option != ARGUMENT_END)
        return arguments_status(arguments, option);
    if (arguments->operand_count > 0)
        return command_wrong(command, "unexpected argument '%s'", arguments->operands[0]);
    int code = api_open(&api, &place, &err);
    for (size_t i = 0; code == 0 && i < ARRAY_LEN(exported); i++) {
        if (exported[i] != KUBE_SECRETS || has_secrets)
            code = export_kind(&api, kube_known(exported[i]), place.namespace, &err);
    }
    api_close(&api);
    return code < 0 ? command_failed(code, &err) : EXIT_FINE;
}

static const char *const examples[] = {"muster export > objects.yaml",
                                       "muster export -n vision --secrets > vision.yaml", NULL};

const struct command export_command = {
    .name = "export",
    .summary = "write all objects as manifests for a Kubernetes cluster",
    .usage = "[-n NAMESPACE] [--secrets]",
    .text =
        "Writes namespaces, queues, priority classes, topologies, configuration, services and workloads as YAML for\n"
        "'kubectl apply -f'. Objects that controllers created, finished work, and fields that the server fills in are "
        "left\n"
        "out. Without -n, all namespaces are exported. Install Muster on the cluster first, for its kinds.\n",
    .group = GROUP_LOCAL,
    .options = options,
    .option_count = ARRAY_LEN(options),
    .examples = examples,
    .operands = OPERANDS_NONE,
    .run = run_export,
};
