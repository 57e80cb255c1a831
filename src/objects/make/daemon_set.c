/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A DaemonSet has a pod on every node that its template selects and whose taints it tolerates. The controller ties each
 * pod to its node by the node's name, and lets it tolerate the taints of nodes in trouble.
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "objects/make/maker.h"
#include "objects/reader.h"
#include "objects/selector.h"

/* What the controller's pods tolerate on top of what the template says. */
static const struct {
    const char *key;
    const char *effect;
    bool is_for_host_network;
} tolerated[] = {
    {"node.kubernetes.io/not-ready", "NoExecute", false},
    {"node.kubernetes.io/unreachable", "NoExecute", false},
    {"node.kubernetes.io/disk-pressure", "NoSchedule", false},
    {"node.kubernetes.io/memory-pressure", "NoSchedule", false},
    {"node.kubernetes.io/pid-pressure", "NoSchedule", false},
    {"node.kubernetes.io/unschedulable", "NoSchedule", false},
    {"node.kubernetes.io/network-unavailable", "NoSchedule", true},
};

/* A template, read as far as it says where its pods go. */
struct daemon {
    struct json_at selector;
    const struct selector_spec *terms;
    size_t term_count;
    bool has_terms;
    struct json_at tolerations;
    bool is_host_network;
};

static int daemon_decode(struct maker *maker, const struct json_at *pod, struct daemon *ret_daemon, struct err *err)
{
    struct json_at network = json_member(pod, "hostNetwork");
    struct json_at affinity;
    struct json_at node;
    struct json_at required;
    struct json_at terms;

    *ret_daemon = (struct daemon){.is_host_network = yyjson_get_bool(network.val)};
    TRY(json_member_object(pod, "nodeSelector", JSON_OPTIONAL, &ret_daemon->selector, err));
    TRY(json_member_array(pod, "tolerations", JSON_OPTIONAL, &ret_daemon->tolerations, err));
    TRY(json_member_object(pod, "affinity", JSON_OPTIONAL, &affinity, err));
    TRY(json_member_object(&affinity, "nodeAffinity", JSON_OPTIONAL, &node, err));
    TRY(json_member_object(&node, "requiredDuringSchedulingIgnoredDuringExecution", JSON_OPTIONAL, &required, err));
    TRY(json_member_array(&required, "nodeSelectorTerms", JSON_OPTIONAL, &terms, err));
    ret_daemon->has_terms = required.val != NULL;
    return node_terms_decode(maker->arena, &terms, &ret_daemon->terms, &ret_daemon->term_count, err);
}

static bool is_text(const char *text, const char *expected)
{
    return strcmp(text ? text : "", expected ? expected : "") == 0;
}

static bool tolerates(const struct json_at *toleration, const struct json_at *taint)
{
    const char *key = json_peek_str(toleration, "key");
    const char *operator= json_peek_str(toleration, "operator");
    const char *effect = json_peek_str(toleration, "effect");
    bool exists = operator&& strcmp(operator, "Exists") == 0;

    if (effect && *effect && !is_text(json_peek_str(taint, "effect"), effect))
        return false;
    if (!key || !*key)
        return exists;
    return is_text(json_peek_str(taint, "key"), key) &&
           (exists || is_text(json_peek_str(taint, "value"), json_peek_str(toleration, "value")));
}

static bool is_tolerated(const struct daemon *daemon, const struct json_at *taint)
{
    const char *key = json_peek_str(taint, "key");
    const char *effect = json_peek_str(taint, "effect");

    if (!effect || strcmp(effect, "PreferNoSchedule") == 0)
        return true;
    for (size_t i = 0; key && i < ARRAY_LEN(tolerated); i++) {
        if (strcmp(tolerated[i].key, key) == 0 && strcmp(tolerated[i].effect, effect) == 0)
            return !tolerated[i].is_for_host_network || daemon->is_host_network;
    }
    for (struct json_at item = {0}; json_next(&daemon->tolerations, &item);) {
        if (tolerates(&item, taint))
            return true;
    }
    return false;
}

static bool runs_on(const struct daemon *daemon, const struct object *node)
{
    struct json_at meta;
    struct json_at labels = object_labels(node, &meta);
    struct json_at spec = json_member(&node->root, "spec");
    struct json_at taints = json_member(&spec, "taints");
    bool matches = !daemon->has_terms;

    for (struct json_at item = {0}; json_next(&daemon->selector, &item);) {
        const char *value = yyjson_get_str(item.val);

        if (!value || !json_peek_str(&labels, item.key) || strcmp(json_peek_str(&labels, item.key), value) != 0)
            return false;
    }
    for (size_t i = 0; i < daemon->term_count && !matches; i++)
        matches = selector_spec_matches(&daemon->terms[i], &labels, node->name);
    for (struct json_at taint = {0}; matches && json_next(&taints, &taint);)
        matches = is_tolerated(daemon, &taint);
    return matches;
}

static yyjson_mut_val *member_object(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key)
{
    yyjson_mut_val *member = yyjson_mut_obj_get(object, key);

    if (yyjson_mut_is_obj(member))
        return member;
    (void)yyjson_mut_obj_remove_str(object, key);
    return yyjson_mut_obj_add_obj(doc, object, key);
}

/* The node's name takes the place of the terms, which it has been tried against. */
static void tie_to_node(struct draft *draft, const char *node)
{
    yyjson_mut_doc *doc = draft->doc;
    yyjson_mut_val *affinity = member_object(doc, draft->spec, "affinity");
    yyjson_mut_val *required = member_object(doc, member_object(doc, affinity, "nodeAffinity"),
                                             "requiredDuringSchedulingIgnoredDuringExecution");

    (void)yyjson_mut_obj_remove_str(required, "nodeSelectorTerms");
    yyjson_mut_val *term = yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, required, "nodeSelectorTerms"));
    yyjson_mut_val *field = yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, term, "matchFields"));
    (void)yyjson_mut_obj_add_str(doc, field, "key", "metadata.name");
    (void)yyjson_mut_obj_add_str(doc, field, "operator", "In");
    (void)yyjson_mut_arr_add_strcpy(doc, yyjson_mut_obj_add_arr(doc, field, "values"), node);
}

static void add_tolerations(struct draft *draft, const struct daemon *daemon)
{
    yyjson_mut_doc *doc = draft->doc;
    yyjson_mut_val *all = yyjson_mut_obj_get(draft->spec, "tolerations");

    if (!yyjson_mut_is_arr(all)) {
        (void)yyjson_mut_obj_remove_str(draft->spec, "tolerations");
        all = yyjson_mut_obj_add_arr(doc, draft->spec, "tolerations");
    }
    for (size_t i = 0; i < ARRAY_LEN(tolerated); i++) {
        if (tolerated[i].is_for_host_network && !daemon->is_host_network)
            continue;
        yyjson_mut_val *toleration = yyjson_mut_arr_add_obj(doc, all);
        (void)yyjson_mut_obj_add_str(doc, toleration, "key", tolerated[i].key);
        (void)yyjson_mut_obj_add_str(doc, toleration, "operator", "Exists");
        (void)yyjson_mut_obj_add_str(doc, toleration, "effect", tolerated[i].effect);
    }
}

static int make_on_node(struct maker *maker, const struct object *owner, const struct json_at *template,
                        const struct daemon *daemon, const char *node, struct err *err)
{
    struct json_at meta = json_member(template, "metadata");
    struct json_at pod = json_member(template, "spec");
    struct child child = {
        .name = arena_printf(maker->arena, "%s-%s", owner->name, node),
        .metadata = &meta,
    };
    struct draft draft;

    draft_init(&draft);
    draft_put_all(&draft, draft.spec, &pod);
    tie_to_node(&draft, node);
    add_tolerations(&draft, daemon);
    return make_drafted(maker, owner, &child, &draft, err);
}

int make_daemon_set(struct maker *maker, const struct object *owner, struct err *err)
{
    struct json_at spec;
    struct json_at template;
    struct json_at pod;
    struct daemon daemon;

    TRY(json_member_object(&owner->root, "spec", JSON_REQUIRED, &spec, err));
    TRY(json_member_object(&spec, "template", JSON_REQUIRED, &template, err));
    TRY(json_member_object(&template, "spec", JSON_REQUIRED, &pod, err));
    TRY(daemon_decode(maker, &pod, &daemon, err));
    const struct object *node = object_set_first(maker->set, object_kind_of("", "Node"));
    for (; node; node = node->next) {
        if (node->is_replaced || !object_in_partition(maker->options, node) || !runs_on(&daemon, node))
            continue;
        int r = make_on_node(maker, owner, &template, &daemon, node->name, err);
        if (r != 0)
            return r;
    }
    return 0;
}
