/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds that a cluster is run by: nodes, quotas, network policies, webhooks. */
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/builtin/members.h"
#include "local/builtin/validate_internal.h"
#include "text/quantity.h"

/* --- Nodes and quotas --- */

static bool is_same_taint(yyjson_mut_val *a, yyjson_mut_val *b)
{
    return member_is(a, "key", member_text(b, "key")) && member_is(a, "effect", member_text(b, "effect"));
}

static void check_taint(struct validating *validating, yyjson_mut_val *taints, yyjson_mut_val *taint, size_t index,
                        const struct field *field)
{
    const struct field at = field_item(field, index);
    size_t before = 0;
    struct strbuf words;

    check_label_key(validating->problems, FIELD(&at, "key"), member_text(taint, "key"));
    if (!*member_text(taint, "effect"))
        problem_required(validating->problems, FIELD(&at, "effect"), "");
    else if (!kind_list_has("NoSchedule PreferNoSchedule NoExecute", member_text(taint, "effect")))
        problem_not_supported(validating->problems, FIELD(&at, "effect"), member_get(taint, "effect"),
                              "NoSchedule PreferNoSchedule NoExecute");
    MEMBER_ITEMS (other, taints) {
        if (before++ >= index)
            return;
        if (!is_same_taint(taint, other))
            continue;
        strbuf_init(&words, PROBLEM_BYTES_MAX);
        strbuf_addf(&words,
                    "Duplicate value: {\"Key\":\"%s\",\"Value\":\"%s\",\"Effect\":\"%s\",\"TimeAdded\":null}: taints "
                    "must be unique by key and effect pair",
                    member_text(taint, "key"), member_text(taint, "value"), member_text(taint, "effect"));
        problem_add(validating->problems, PROBLEM_DUPLICATE, &at, words.text);
        strbuf_done(&words);
        return;
    }
}

/* The API server calls the path of the taints so. */
void check_node(struct validating *validating, yyjson_mut_val *node, const struct field *field)
{
    enum { TAINTS_MAX = 1000 };
    const struct field taints_field = field_member(FIELD(field, "metadata"), "taints");
    yyjson_mut_val *taints = member_get(node, "spec.taints");
    size_t count = yyjson_mut_arr_size(taints);
    size_t index = 0;

    if (count > TAINTS_MAX)
        problem_too_many(validating->problems, &taints_field, count, TAINTS_MAX);
    MEMBER_ITEMS (taint, count > TAINTS_MAX ? NULL : taints)
        check_taint(validating, taints, taint, index++, &taints_field);
}

void check_quota(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    const struct field hard = field_member(field, "hard");
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(member_get(spec, "hard"));

    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        const struct field at = field_key(&hard, yyjson_mut_get_str(key));
        yyjson_mut_val *amount = yyjson_mut_obj_iter_get_val(key);
        if (*yyjson_mut_get_str(amount) == '-')
            problem_invalid(validating->problems, &at, amount, "must be greater than or equal to 0");
    }
}

/* --- Network policies --- */

static void check_peers(struct validating *validating, yyjson_mut_val *rules, const struct field *field,
                        const char *member)
{
    size_t rule_index = 0;

    MEMBER_ITEMS (rule, rules) {
        const struct field rule_field = field_item(field, rule_index++);
        const struct field peers = field_member(&rule_field, member);
        size_t index = 0;
        MEMBER_ITEMS (peer, member_get(rule, member)) {
            const struct field at = field_item(&peers, index++);
            if (yyjson_mut_obj_size(peer) == 0)
                problem_required(validating->problems, &at, "must specify a peer");
        }
    }
}

void check_network_policy(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    const struct field types = field_member(field, "policyTypes");
    size_t index = 0;

    check_peers(validating, member_get(spec, "ingress"), FIELD(field, "ingress"), "from");
    check_peers(validating, member_get(spec, "egress"), FIELD(field, "egress"), "to");
    MEMBER_ITEMS (type, member_get(spec, "policyTypes")) {
        const struct field at = field_item(&types, index++);
        if (!kind_list_has("Ingress Egress", yyjson_mut_get_str(type)))
            problem_not_supported(validating->problems, &at, type, "Ingress Egress");
    }
}

/* --- Limits --- */

/* Amounts of one resource, the first of which may not be above the second. */
static const struct {
    const char *low, *high;  // members of the item
    const char *at;          // the one that is to blame
    const char *shown;       // the one whose amount is shown
    const char *low_name, *high_name;
} limit_orders[] = {
    {"min", "max", "min", "min", "min", "max"},
    {"min", "defaultRequest", "defaultRequest", "defaultRequest", "min", "default request"},
    {"defaultRequest", "max", "defaultRequest", "defaultRequest", "default request", "max"},
    {"defaultRequest", "default", "defaultRequest", "defaultRequest", "default request", "default limit"},
    {"min", "default", "default", "min", "min", "default"},
    {"default", "max", "default", "max", "default", "max"},
};

static yyjson_mut_val *amount_of(yyjson_mut_val *item, const char *member, const char *resource)
{
    return yyjson_mut_obj_get(member_get(item, member), resource);
}

static bool is_above(yyjson_mut_val *a, yyjson_mut_val *b)
{
    struct quantity first = {0};
    struct quantity second = {0};

    return yyjson_mut_is_str(a) && yyjson_mut_is_str(b) &&
           quantity_parse_exact(yyjson_mut_get_str(a), &first, NULL) == 0 &&
           quantity_parse_exact(yyjson_mut_get_str(b), &second, NULL) == 0 && first.nano > second.nano;
}

static void check_limit(struct validating *validating, yyjson_mut_val *item, const struct field *field,
                        const char *resource)
{
    for (size_t i = 0; i < ARRAY_LEN(limit_orders); i++) {
        yyjson_mut_val *low = amount_of(item, limit_orders[i].low, resource);
        yyjson_mut_val *high = amount_of(item, limit_orders[i].high, resource);
        const struct field list = field_member(field, limit_orders[i].at);
        const struct field at = field_key(&list, resource);
        char words[200];

        if (!is_above(low, high))
            continue;
        (void)snprintf(words, sizeof words, "%s value %.40s is greater than %s value %.40s", limit_orders[i].low_name,
                       yyjson_mut_get_str(low), limit_orders[i].high_name, yyjson_mut_get_str(high));
        problem_invalid(validating->problems, &at, amount_of(item, limit_orders[i].shown, resource), words);
    }
}

void check_limits(struct validating *validating, yyjson_mut_val *item, const struct field *field)
{
    static const char *const lists[] = {"max", "min", "default", "defaultRequest"};
    const struct field type_field = field_member(field, "type");
    const char *type = member_text(item, "type");

    check_label_key(validating->problems, &type_field, type);
    if (*type && !strchr(type, '/') && !kind_list_has("Pod Container PersistentVolumeClaim", type))
        problem_invalid_text(validating->problems, &type_field, type,
                             "must be a standard limit type or fully qualified");
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(member_get(item, lists[i]));
        for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
            bool is_seen = false;
            for (size_t before = 0; before < i; before++)
                is_seen = is_seen || amount_of(item, lists[before], yyjson_mut_get_str(key));
            if (!is_seen)
                check_limit(validating, item, field, yyjson_mut_get_str(key));
        }
    }
}

/* --- Webhooks --- */

static void check_webhook(struct validating *validating, yyjson_mut_val *webhook, const struct field *field)
{
    const char *name = member_text(webhook, "name");
    const char *dot = strchr(name, '.');
    bool has_url = member_get(webhook, "clientConfig.url") != NULL;

    if (!dot || !strchr(dot + 1, '.'))
        problem_invalid_text(validating->problems, FIELD(field, "name"), name,
                             "should be a domain with at least three segments separated by dots");
    if (!kind_list_has("None NoneOnDryRun", member_text(webhook, "sideEffects")))
        problem_required(validating->problems, FIELD(field, "sideEffects"), "must specify one of None, NoneOnDryRun");
    if (!member_get(webhook, "admissionReviewVersions"))
        problem_required(validating->problems, FIELD(field, "admissionReviewVersions"),
                         "must specify one of v1, v1beta1");
    if (has_url == (member_get(webhook, "clientConfig.service") != NULL))
        problem_required(validating->problems, FIELD(field, "clientConfig"),
                         "exactly one of url or service is required");
}

void check_webhooks(struct validating *validating, yyjson_mut_val *configuration, const struct field *field)
{
    const struct field list_field = field_member(field, "webhooks");
    yyjson_mut_val *list = member_get(configuration, "webhooks");
    size_t index = 0;

    MEMBER_ITEMS (webhook, list) {
        const struct field at = field_item(&list_field, index++);
        check_webhook(validating, webhook, &at);
    }
    check_names(validating, list, &list_field, true);
}
