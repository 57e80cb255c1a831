/* SPDX-License-Identifier: Apache-2.0 */
#include "local/subresources/budgets_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yyjson.h>

#include "base/macros.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "local/api/kinds.h"
#include "local/api/label_selector.h"
#include "local/api/selector.h"
#include "local/controllers/budget.h"
#include "local/controllers/values.h"
#include "local/server/resources.h"
#include "local/server/server_parts.h"

enum { SELECTOR_MAX = 64 << 10 };

/* Reads a label selector. Returns false for one that cannot be read, or that selects nothing. */
static bool read_selector(yyjson_val *selector, struct selector *ret_wanted)
{
    struct strbuf text;

    strbuf_init(&text, SELECTOR_MAX);
    label_selector_format(selector, &text);
    bool is_read = selector && !text.is_cut && selector_add_labels(ret_wanted, text.text, NULL) == 0;

    strbuf_done(&text);
    return is_read;
}

static uint32_t number_of_kind(const struct server *server, const char *group, const char *version, const char *plural)
{
    return resource_number((struct server *)(uintptr_t)server, builtin_kind_find(group, version, plural));
}

/* What is counted for a budget, and the controllers that have been counted. */
struct counts {
    struct budget_sums sums;
    VEC(char *) uids;
};

/* Adds the replicas that the controller of an object wants; of a set that a Deployment owns, those of the Deployment. */
static void add_owner(const struct server *server, const char *namespace, yyjson_val *object, struct counts *counts)
{
    yyjson_val *owner = budget_controller_of(object);
    const char *uid = yyjson_get_str(yyjson_obj_get(owner, "uid"));
    const char *name = yyjson_get_str(yyjson_obj_get(owner, "name"));
    const struct kube_resource *kind = budget_scaled_find(owner);
    const struct store_object *found;

    vec_foreach (&counts->uids, known) {
        if (uid && strcmp(*known, uid) == 0)
            return;
    }
    if (!uid || !name)
        return;
    if (!kind) {
        counts->sums.is_unscalable = true;
        return;
    }
    found = store_latest(server->store, number_of_kind(server, kind->group, "v1", kind->plural), namespace, name);
    if (!found)
        return;
    yyjson_doc *doc = yyjson_read(found->body, found->body_len, 0);
    yyjson_val *root = yyjson_doc_get_root(doc);

    vec_push(&counts->uids, xstrdup(uid));
    if (budget_controller_of(root))
        add_owner(server, namespace, root, counts);
    else
        counts->sums.replicas += number_at(root, 0, "spec", "replicas");
    yyjson_doc_free(doc);
}

/* Counts the pods that the budget selects, with changes that are still being written. */
static void count_pods(const struct server *server, const char *namespace, const struct selector *wanted,
                       struct counts *counts)
{
    uint32_t kind = number_of_kind(server, "", "v1", "pods");
    const struct store_object *stored;
    struct store_cursor cursor;

    store_cursor_init(&cursor, server->store, kind, namespace, "");
    while ((stored = store_cursor_next(&cursor)) && strcmp(stored->namespace, namespace) == 0) {
        const struct store_object *pod = store_latest(server->store, kind, namespace, stored->name);
        if (!pod || !selector_matches_object(wanted, pod))
            continue;
        yyjson_doc *doc = yyjson_read(pod->body, pod->body_len, 0);
        yyjson_val *root = yyjson_doc_get_root(doc);
        budget_add_pod(&counts->sums, root);
        add_owner(server, namespace, root, counts);
        yyjson_doc_free(doc);
    }
    store_cursor_done(&cursor);
}

/* Whether the budget does not let the pod go now. One that is not ready takes nothing from those that are. */
static bool refuses(const struct server *server, yyjson_val *budget, const struct store_object *pod, bool is_pod_ready,
                    struct budget_refusal *refusal)
{
    struct selector wanted = {0};
    struct counts counts = {0};
    bool is_refused = false;

    if (read_selector(value_at(budget, "spec", "selector"), &wanted) && selector_matches_object(&wanted, pod)) {
        count_pods(server, pod->namespace, &wanted, &counts);
        struct budget_verdict verdict = budget_judge(budget, &counts.sums);
        bool is_free = !is_pod_ready &&
                       (yyjson_equals_str(value_at(budget, "spec", "unhealthyPodEvictionPolicy"), "AlwaysAllow") ||
                        (verdict.desired > 0 && counts.sums.healthy >= verdict.desired));
        refusal->needed = verdict.desired;
        refusal->healthy = counts.sums.healthy;
        is_refused = !is_free && verdict.allowed == 0;
    }
    vec_foreach (&counts.uids, uid)
        free(*uid);
    vec_done(&counts.uids);
    selector_done(&wanted);
    return is_refused;
}

/* Whether a pod counts for no budget, because it does not run or is going already. */
static bool is_free(const struct store_object *pod, bool *ret_is_ready)
{
    static const char *const phases[] = {"Pending", "Succeeded", "Failed"};
    yyjson_doc *doc = yyjson_read(pod->body, pod->body_len, 0);
    yyjson_val *root = yyjson_doc_get_root(doc);
    yyjson_val *phase = yyjson_obj_get(yyjson_obj_get(root, "status"), "phase");
    bool found = yyjson_obj_get(yyjson_obj_get(root, "metadata"), "deletionTimestamp");

    for (size_t i = 0; i < ARRAY_LEN(phases); i++)
        found |= yyjson_equals_str(phase, phases[i]);
    *ret_is_ready = budget_pod_is_ready(root);
    yyjson_doc_free(doc);
    return found;
}

bool budget_refuses(const struct server *server, const struct store_object *pod, struct budget_refusal *ret_refusal)
{
    const struct store_object *budget;
    struct store_cursor cursor;
    bool is_pod_ready = false;
    bool found = false;

    if (is_free(pod, &is_pod_ready))
        return false;
    store_cursor_init(&cursor, server->store, number_of_kind(server, "policy", "v1", "poddisruptionbudgets"),
                      pod->namespace, "");
    while (!found && (budget = store_cursor_next(&cursor)) && strcmp(budget->namespace, pod->namespace) == 0) {
        yyjson_doc *doc = yyjson_read(budget->body, budget->body_len, 0);
        found = refuses(server, yyjson_doc_get_root(doc), pod, is_pod_ready, ret_refusal);
        if (found)
            (void)snprintf(ret_refusal->budget, sizeof ret_refusal->budget, "%s", budget->name);
        yyjson_doc_free(doc);
    }
    store_cursor_done(&cursor);
    return found;
}
