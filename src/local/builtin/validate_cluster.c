/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds that a cluster is run by: nodes, quotas, network policies, webhooks. */
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/builtin/members.h"
#include "local/builtin/validate_internal.h"

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
    if (!kind_list_has("NoSchedule PreferNoSchedule NoExecute", member_text(taint, "effect")))
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
