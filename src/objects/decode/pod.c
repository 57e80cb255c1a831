/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Pods. Those of other schedulers matter only while they take room; ones that failed matter to nobody, as in KAI, which
 * does not even watch them.
 */
#include <string.h>

#include "objects/decode/pod_internal.h"
#include "objects/keys.h"

static int pod_json_decode(const struct object *object, struct pod_json *json, struct err *err)
{
    static const struct field in_root[] = {
        FIELD(pod_json, metadata, "metadata", FIELD_OBJECT),
        FIELD(pod_json, spec, "spec", FIELD_OBJECT),
        FIELD(pod_json, status, "status", FIELD_OBJECT),
    };
    static const struct field in_metadata[] = {
        FIELD(pod_json, labels, "labels", FIELD_OBJECT),
        FIELD(pod_json, annotations, "annotations", FIELD_OBJECT),
        FIELD(pod_json, deleted, "deletionTimestamp", FIELD_TIME),
    };
    static const struct field in_spec[] = {
        FIELD(pod_json, node, "nodeName", FIELD_STR),
        FIELD(pod_json, scheduler, "schedulerName", FIELD_STR),
        FIELD(pod_json, priority_class, "priorityClassName", FIELD_STR),
        FIELD(pod_json, priority, "priority", FIELD_INT32),
        FIELD(pod_json, has_host_network, "hostNetwork", FIELD_BOOL),
        FIELD(pod_json, containers, "containers", FIELD_ARRAY),
        FIELD(pod_json, init_containers, "initContainers", FIELD_ARRAY),
        FIELD(pod_json, overhead, "overhead", FIELD_OBJECT),
        FIELD(pod_json, node_selector, "nodeSelector", FIELD_OBJECT),
        FIELD(pod_json, affinity, "affinity", FIELD_OBJECT),
        FIELD(pod_json, tolerations, "tolerations", FIELD_ARRAY),
        FIELD(pod_json, spread, "topologySpreadConstraints", FIELD_ARRAY),
        FIELD(pod_json, volumes, "volumes", FIELD_ARRAY),
        FIELD(pod_json, claims, "resourceClaims", FIELD_ARRAY),
        FIELD(pod_json, gates, "schedulingGates", FIELD_ARRAY),
    };
    static const struct field in_status[] = {
        FIELD(pod_json, phase, "phase", FIELD_STR),
        FIELD(pod_json, nominated_node, "nominatedNodeName", FIELD_STR),
        FIELD(pod_json, qos, "qosClass", FIELD_STR),
        FIELD(pod_json, claim_statuses, "resourceClaimStatuses", FIELD_ARRAY),
        FIELD(pod_json, extended_claim, "extendedResourceClaimStatus", FIELD_OBJECT),
    };

    *json =
        (struct pod_json){.node = "", .scheduler = KEY_KUBERNETES_SCHEDULER, .priority_class = "", .phase = "Pending"};
    TRY(FIELDS_DECODE(&object->root, in_root, json, err));
    TRY(FIELDS_DECODE(&json->metadata, in_metadata, json, err));
    TRY(FIELDS_DECODE(&json->spec, in_spec, json, err));
    return FIELDS_DECODE(&json->status, in_status, json, err);
}

static bool has_label(const struct pod_json *json, const char *key, const char *value)
{
    const char *found = json_peek_str(&json->labels, key);

    return found && strcmp(found, value) == 0;
}

/* What labels say of the pod's part in its gang and in KAI's own machinery. */
static void roles_decode(const struct object_reader *reader, const struct pod_json *json, struct pod_spec *spec)
{
    const char *priority = json_peek_str(&json->labels, KEY_TASK_PRIORITY);
    int64_t number = 0;

    spec->is_reservation = has_label(json, KEY_APP, reader->options->reservation_app);
    spec->is_utility = spec->is_reservation || has_label(json, KEY_APP, KEY_APP_SCALING);
    if (has_label(json, KEY_JOB_ROLE, "master") || has_label(json, KEY_JOB_ROLE, "launcher"))
        spec->roles |= POD_ROLE_LEADER;
    if (has_label(json, KEY_RAY_NODE_TYPE, "head"))
        spec->roles |= POD_ROLE_HEAD;
    spec->has_task_priority = priority != NULL;
    spec->is_task_priority_bad = priority && !int_parse(priority, INT32_MIN, INT32_MAX, &number);
    spec->task_priority = (int32_t)number;
}

static int constraints_decode(struct object_reader *reader, const struct object *object, const struct pod_json *json,
                              struct constraints_spec *spec, struct err *err)
{
    TRY(pod_placement_decode(reader, json, spec, err));
    TRY(pod_volumes_decode(reader, object, json, spec, err));
    spec->priority_class = json->priority_class;
    spec->priority = json->priority;
    return 0;
}

int pod_decode(struct object_reader *reader, const struct object *object, struct err *err)
{
    struct pod_json json;
    struct pod_spec spec = {.namespace = object->namespace, .name = object->name};

    TRY(pod_json_decode(object, &json, err));
    TRY(pod_status_decode(reader, object, &json, &spec, err));
    spec.is_foreign = strcmp(json.scheduler, reader->options->scheduler_name) != 0;
    if (spec.status == POD_FAILED || (spec.is_foreign && !spec.node)) {
        state_drop_pod(reader->state, object->namespace, object->name);
        return 0;
    }

    const char *annotated = json_peek_str(&json.annotations, KEY_POD_GROUP);
    const char *labelled = json_peek_str(&json.labels, KEY_SUBGROUP);
    spec.uid = object->has_uid ? object->uid : NULL;
    spec.gang = object->gang ? object->gang : annotated;
    spec.pod_set = object->pod_set ? object->pod_set : labelled;
    spec.created = object->created;
    roles_decode(reader, &json, &spec);
    TRY(pairs_decode(&reader->scratch, &json.labels, &spec.labels, &spec.label_count, err));
    TRY(pod_request_decode(reader, object, &json, &spec, err));
    TRY(constraints_decode(reader, object, &json, &spec.constraints, err));
    TRY(pod_claims_decode(reader, object, &json, &spec, err));
    TRY(state_put_pod(reader->state, &spec, err));
    return spec.status == POD_BINDING ? pod_devices_decode(reader, object, &json, err) : 0;
}
