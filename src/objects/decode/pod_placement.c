/* SPDX-License-Identifier: Apache-2.0 */

/* Where a pod may go: node selector and affinity, tolerations, affinity to other pods, spread, host ports. */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "objects/decode/pod_internal.h"
#include "objects/kinds.h"
#include "objects/selector.h"

static int node_affinity_decode(struct arena *arena, const struct json_at *affinity, struct constraints_spec *spec,
                                struct err *err)
{
    struct json_at node;
    struct json_at required;
    struct json_at terms;
    struct json_at preferred;
    size_t count = 0;

    TRY(json_member_object(affinity, "nodeAffinity", JSON_OPTIONAL, &node, err));
    TRY(json_member_object(&node, "requiredDuringSchedulingIgnoredDuringExecution", JSON_OPTIONAL, &required, err));
    TRY(json_member_array(&required, "nodeSelectorTerms", JSON_OPTIONAL, &terms, err));
    if (required.val)
        TRY(node_terms_decode(arena, &terms, &spec->node_terms, &spec->node_term_count, err));

    TRY(json_member_array(&node, "preferredDuringSchedulingIgnoredDuringExecution", JSON_OPTIONAL, &preferred, err));
    struct preferred_node_spec *nodes = arena_calloc(arena, json_len(&preferred), sizeof *nodes);
    for (struct json_at item = {0}; json_next(&preferred, &item); count++) {
        struct json_at preference;
        int64_t weight = 0;

        TRY(json_member_int64(&item, "weight", JSON_REQUIRED, 0, 100, &weight, err));
        TRY(json_member_object(&item, "preference", JSON_REQUIRED, &preference, err));
        TRY(node_term_decode(arena, &preference, &nodes[count].selector, err));
        nodes[count].weight = (int32_t)weight;
    }
    spec->preferred_nodes = nodes;
    spec->preferred_node_count = count;
    return 0;
}

struct toleration_json {
    const char *key;
    const char *operator;
    const char *value;
    const char *effect;
};

static int tolerations_decode(struct arena *arena, const struct json_at *at, struct constraints_spec *spec,
                              struct err *err)
{
    static const struct field fields[] = {
        FIELD(toleration_json, key, "key", FIELD_STR),
        FIELD(toleration_json, operator, "operator", FIELD_STR),
        FIELD(toleration_json, value, "value", FIELD_STR),
        FIELD(toleration_json, effect, "effect", FIELD_STR),
    };
    struct toleration_spec *tolerations = arena_calloc(arena, json_len(at), sizeof *tolerations);
    size_t count = 0;

    for (struct json_at item = {0}; json_next(at, &item);) {
        struct toleration_json json = {.key = "", .operator= "Equal", .value = "", .effect = ""};
        struct toleration_spec *to = &tolerations[count];

        TRY(FIELDS_DECODE(&item, fields, &json, err));
        *to = (struct toleration_spec){
            .key = json.key,
            .value = json.value,
            .exists = strcmp(json.operator, "Exists") == 0,
            .any_effect = !*json.effect,
        };
        if (!to->exists && *json.operator&& strcmp(json.operator, "Equal") != 0) {
            struct json_at operator= json_member(&item, "operator");
            return json_fail(&operator, err, -EINVAL, "expected Exists or Equal, found '%s'", json.operator);
        }
        if (to->any_effect || taint_effect_parse(json.effect, &to->effect))
            count++;
    }
    spec->tolerations = tolerations;
    spec->toleration_count = count;
    return 0;
}

/* Adds the pod's own values of the labels that `keys` names; labels that it does not have say nothing. */
static int label_keys_decode(struct arena *arena, const struct pod_json *json, const struct json_at *term,
                             const char *member, bool is_negated, struct selector_spec *selector, struct err *err)
{
    struct json_at keys;

    TRY(json_member_array(term, member, JSON_OPTIONAL, &keys, err));
    for (struct json_at item = {0}; json_next(&keys, &item);) {
        const char *key = NULL;

        TRY(json_str(&item, &key, err));
        const char *value = json_peek_str(&json->labels, key);
        if (value)
            selector_add(arena, selector, key, value, is_negated);
    }
    return 0;
}

/*
 * Those that are named and those whose labels the selector matches. When there is none, "" stands for it: an empty list
 * would mean the pod's own namespace.
 */
static void namespaces_select(struct object_reader *reader, const struct selector_spec *selector,
                              struct pod_term_spec *spec)
{
    struct object *first = object_set_first(reader->objects, object_kind_of("", "Namespace"));
    size_t max = spec->namespace_count + 1;
    size_t count = 0;

    for (const struct object *object = first; object; object = object->next)
        max++;
    const char **all = arena_calloc(&reader->scratch, max, sizeof *all);
    for (; count < spec->namespace_count; count++)
        all[count] = spec->namespaces[count];
    for (const struct object *object = first; object; object = object->next) {
        struct json_at meta;
        struct json_at labels = object_labels(object, &meta);

        if (!object->is_replaced && selector_spec_matches(selector, &labels, object->name))
            all[count++] = object->name;
    }
    if (count == 0)
        all[count++] = "";
    spec->namespaces = all;
    spec->namespace_count = count;
}

static int namespaces_decode(struct object_reader *reader, const struct json_at *term, struct pod_term_spec *spec,
                             struct err *err)
{
    struct selector_spec selector;
    struct json_at named;
    struct json_at selector_at;

    TRY(json_member_array(term, "namespaces", JSON_OPTIONAL, &named, err));
    TRY(json_member_object(term, "namespaceSelector", JSON_OPTIONAL, &selector_at, err));
    TRY(strings_decode(&reader->scratch, &named, &spec->namespaces, &spec->namespace_count, err));
    if (!selector_at.val)
        return 0;
    TRY(label_selector_decode(&reader->scratch, &selector_at, &selector, err));
    spec->all_namespaces = selector.count == 0;
    if (!spec->all_namespaces)
        namespaces_select(reader, &selector, spec);
    return 0;
}

static int pod_term_decode(struct object_reader *reader, const struct pod_json *json, const struct json_at *at,
                           struct pod_term_spec *spec, struct err *err)
{
    struct json_at selector;

    TRY(json_object(at, err));
    TRY(json_member_object(at, "labelSelector", JSON_OPTIONAL, &selector, err));
    TRY(label_selector_decode(&reader->scratch, &selector, &spec->selector, err));
    TRY(json_member_str(at, "topologyKey", JSON_REQUIRED, &spec->topology_key, err));
    TRY(label_keys_decode(&reader->scratch, json, at, "matchLabelKeys", false, &spec->selector, err));
    TRY(label_keys_decode(&reader->scratch, json, at, "mismatchLabelKeys", true, &spec->selector, err));
    return namespaces_decode(reader, at, spec, err);
}

static int required_terms_decode(struct object_reader *reader, const struct pod_json *json, const struct json_at *at,
                                 const struct pod_term_spec **ret_terms, size_t *ret_count, struct err *err)
{
    struct json_at required;
    size_t count = 0;

    TRY(json_member_array(at, "requiredDuringSchedulingIgnoredDuringExecution", JSON_OPTIONAL, &required, err));
    struct pod_term_spec *terms = arena_calloc(&reader->scratch, json_len(&required), sizeof *terms);
    for (struct json_at item = {0}; json_next(&required, &item); count++)
        TRY(pod_term_decode(reader, json, &item, &terms[count], err));
    *ret_terms = terms;
    *ret_count = count;
    return 0;
}

/* Appends preferred terms; those of anti-affinity count with their weight taken away. */
static int preferred_terms_decode(struct object_reader *reader, const struct pod_json *json, const struct json_at *at,
                                  int sign, struct pod_term_spec *terms, size_t *count, struct err *err)
{
    for (struct json_at item = {0}; json_next(at, &item); ++*count) {
        struct json_at term;
        int64_t weight = 0;

        TRY(json_member_int64(&item, "weight", JSON_REQUIRED, 0, 100, &weight, err));
        TRY(json_member_object(&item, "podAffinityTerm", JSON_REQUIRED, &term, err));
        TRY(pod_term_decode(reader, json, &term, &terms[*count], err));
        terms[*count].weight = (int32_t)weight * sign;
    }
    return 0;
}

static int pod_affinity_decode(struct object_reader *reader, const struct pod_json *json, struct constraints_spec *spec,
                               struct err *err)
{
    static const char preferred_key[] = "preferredDuringSchedulingIgnoredDuringExecution";
    struct json_at with;
    struct json_at against;
    struct json_at likes;
    struct json_at dislikes;
    size_t count = 0;

    TRY(json_member_object(&json->affinity, "podAffinity", JSON_OPTIONAL, &with, err));
    TRY(json_member_object(&json->affinity, "podAntiAffinity", JSON_OPTIONAL, &against, err));
    TRY(required_terms_decode(reader, json, &with, &spec->affinity, &spec->affinity_count, err));
    TRY(required_terms_decode(reader, json, &against, &spec->anti_affinity, &spec->anti_affinity_count, err));
    TRY(json_member_array(&with, preferred_key, JSON_OPTIONAL, &likes, err));
    TRY(json_member_array(&against, preferred_key, JSON_OPTIONAL, &dislikes, err));
    struct pod_term_spec *terms = arena_calloc(&reader->scratch, json_len(&likes) + json_len(&dislikes), sizeof *terms);
    TRY(preferred_terms_decode(reader, json, &likes, 1, terms, &count, err));
    TRY(preferred_terms_decode(reader, json, &dislikes, -1, terms, &count, err));
    spec->preferred_pods = terms;
    spec->preferred_pod_count = count;
    return 0;
}

static int spread_decode(struct arena *arena, const struct pod_json *json, struct constraints_spec *spec,
                         struct err *err)
{
    struct spread_spec *spreads = arena_calloc(arena, json_len(&json->spread), sizeof *spreads);
    size_t count = 0;

    for (struct json_at item = {0}; json_next(&json->spread, &item); count++) {
        struct json_at selector;
        const char *when = "DoNotSchedule";
        int64_t skew = 1;

        TRY(json_member_object(&item, "labelSelector", JSON_OPTIONAL, &selector, err));
        TRY(label_selector_decode(arena, &selector, &spreads[count].selector, err));
        TRY(label_keys_decode(arena, json, &item, "matchLabelKeys", false, &spreads[count].selector, err));
        TRY(json_member_str(&item, "topologyKey", JSON_REQUIRED, &spreads[count].topology_key, err));
        TRY(json_member_int64(&item, "maxSkew", JSON_REQUIRED, 1, INT32_MAX, &skew, err));
        TRY(json_member_str(&item, "whenUnsatisfiable", JSON_OPTIONAL, &when, err));
        spreads[count].max_skew = (int32_t)skew;
        spreads[count].is_hard = strcmp(when, "ScheduleAnyway") != 0;
    }
    spec->spread = spreads;
    spec->spread_count = count;
    return 0;
}

struct port_json {
    int64_t host_port;
    int64_t container_port;
    const char *address;
    const char *protocol;
};

static int ports_of_container(const struct pod_json *json, const struct json_at *container,
                              struct host_port_spec *ports, size_t *count, struct err *err)
{
    static const struct field fields[] = {
        FIELD(port_json, host_port, "hostPort", FIELD_INT64),
        FIELD(port_json, container_port, "containerPort", FIELD_INT64),
        FIELD(port_json, address, "hostIP", FIELD_STR),
        FIELD(port_json, protocol, "protocol", FIELD_STR),
    };
    static const char *const protocols[] = {"TCP", "UDP", "SCTP"};
    struct json_at list;

    TRY(json_member_array(container, "ports", JSON_OPTIONAL, &list, err));
    for (struct json_at item = {0}; json_next(&list, &item);) {
        struct port_json port = {.address = "", .protocol = "TCP"};
        uint8_t protocol = 0;

        TRY(FIELDS_DECODE(&item, fields, &port, err));
        if (json->has_host_network && port.host_port == 0)
            port.host_port = port.container_port;
        if (port.host_port < 0 || port.host_port > UINT16_MAX)
            return json_fail(&item, err, -EINVAL, "expected a port from 1 to 65535");
        if (port.host_port == 0)
            continue;
        while (protocol < ARRAY_LEN(protocols) - 1 && strcmp(port.protocol, protocols[protocol]) != 0)
            protocol++;
        if (strcmp(port.address, "0.0.0.0") == 0)
            port.address = "";
        ports[(*count)++] = (struct host_port_spec){port.address, (uint16_t)port.host_port, protocol};
    }
    return 0;
}

static size_t count_ports(const struct json_at *containers)
{
    size_t count = 0;

    for (struct json_at item = {0}; json_next(containers, &item);) {
        struct json_at ports = json_member(&item, "ports");
        count += json_len(&ports);
    }
    return count;
}

static int ports_decode(struct arena *arena, const struct pod_json *json, struct constraints_spec *spec,
                        struct err *err)
{
    size_t max = count_ports(&json->containers) + count_ports(&json->init_containers);
    struct host_port_spec *ports = arena_calloc(arena, max, sizeof *ports);
    size_t count = 0;

    for (struct json_at item = {0}; json_next(&json->containers, &item);)
        TRY(ports_of_container(json, &item, ports, &count, err));
    for (struct json_at item = {0}; json_next(&json->init_containers, &item);) {
        if (container_is_sidecar(&item))
            TRY(ports_of_container(json, &item, ports, &count, err));
    }
    spec->ports = ports;
    spec->port_count = count;
    return 0;
}

int pod_placement_decode(struct object_reader *reader, const struct pod_json *json, struct constraints_spec *spec,
                         struct err *err)
{
    struct arena *arena = &reader->scratch;

    spec->has_node_selector = json_len(&json->node_selector) > 0;
    TRY(pairs_decode(arena, &json->node_selector, &spec->node_selector, &spec->node_selector_count, err));
    TRY(node_affinity_decode(arena, &json->affinity, spec, err));
    TRY(tolerations_decode(arena, &json->tolerations, spec, err));
    TRY(pod_affinity_decode(reader, json, spec, err));
    TRY(spread_decode(arena, json, spec, err));
    return ports_decode(arena, json, spec, err);
}
