/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The status of PodDisruptionBudgets. Nothing is kept of the pods: a budget that may have changed lists what it selects and
 * reads the controllers of these pods. Evictions do not rely on the status (local/subresources/budgets.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "kube/client/meta.h"
#include "kube/follow/follow.h"
#include "local/api/label_selector.h"
#include "local/controllers/actions.h"
#include "local/controllers/budget.h"
#include "local/controllers/status.h"
#include "local/controllers/values.h"
#include "local/workloads/workloads.h"
#include "text/json.h"

#define INTERVAL (200 * NSEC_PER_MSEC)

enum { SELECTOR_TEXT_MAX = 64 << 10, MESSAGE_MAX = 512 };

/* A controller of pods, or of a controller of pods. */
struct scaler {
    const struct kube_resource *kind;
    char *name, *uid;
};

struct count {
    bool is_full;        // the sums are complete
    bool is_old;         // something has changed since the count began
    int64_t generation;  // of the budget that is counted for
    struct budget_sums sums;
    VEC(struct scaler) scalers;  // each once
    size_t read;                 // so many of them
    char problem[MESSAGE_MAX];   // why the budget allows nothing; ""
};

static void clear(struct count *count)
{
    vec_foreach (&count->scalers, scaler) {
        free(scaler->name);
        free(scaler->uid);
    }
    vec_done(&count->scalers);
    *count = (struct count){0};
}

static void reset(struct count *count, const struct owner *owner)
{
    clear(count);
    count->generation = number_at(owner->object, 0, "metadata", "generation");
}

static void forget(struct owner *owner)
{
    struct count *count = owner->state;

    if (count)
        clear(count);
    free(count);
}

static void add_scaler(struct count *count, yyjson_val *object)
{
    yyjson_val *reference = budget_controller_of(object);
    const struct kube_resource *kind = budget_scaled_find(reference);
    const char *uid = kube_text(reference, "uid");

    if (!reference)
        return;
    if (!kind) {
        /* As Kubernetes says it: with the plural of the kind and its group. */
        const char *version = kube_text(reference, "apiVersion"), *slash = strchr(version, '/');
        char name[128];

        count->sums.is_unscalable = true;
        (void)snprintf(name, sizeof name, "%ss", kube_text(reference, "kind"));
        for (char *at = name; *at; at++) {
            if (*at >= 'A' && *at <= 'Z')
                *at = (char)(*at | ' ');
        }
        (void)snprintf(count->problem, sizeof count->problem, "%s%s%.*s does not implement the scale subresource", name,
                       slash ? "." : "", slash ? (int)(slash - version) : 0, version);
        return;
    }
    vec_foreach (&count->scalers, known) {
        if (strcmp(known->uid, uid) == 0)
            return;
    }
    vec_push(&count->scalers, ((struct scaler){kind, xstrdup(kube_text(reference, "name")), xstrdup(uid)}));
}

static int on_pod(struct owner *owner, const char *text, size_t len)
{
    struct count *count = owner->state;
    yyjson_doc *doc = text ? yyjson_read(text, len, 0) : NULL;
    yyjson_val *pod = yyjson_doc_get_root(doc);

    if (pod) {
        budget_add_pod(&count->sums, pod);
        if (budget_needs_replicas(owner->object))
            add_scaler(count, pod);
    }
    yyjson_doc_free(doc);
    return 0;
}

static void read_scalers(struct owner *owner);

static void on_scaler(struct owner *owner, const struct kube_answer *answer)
{
    struct count *count = owner->state;
    yyjson_val *object = NULL;

    if (answer->err.code == 0 && kube_answer_object(answer, &object, NULL) == 0) {
        if (budget_controller_of(object))
            add_scaler(count, object);
        else
            count->sums.replicas += number_at(object, 0, "spec", "replicas");
    } else if (answer->status != 404) {
        count->is_old = true;
        return;
    }
    read_scalers(owner);
}

static void read_scalers(struct owner *owner)
{
    struct count *count = owner->state;

    if (count->read == count->scalers.len) {
        count->is_full = true;
        return;
    }
    const struct scaler *scaler = &count->scalers.items[count->read++];
    owner_ask(owner,
              &(struct kube_request){
                  .verb = KUBE_GET, .resource = scaler->kind, .namespace = owner->namespace, .name = scaler->name},
              NULL, on_scaler);
}

static void on_listed(struct owner *owner, const struct kube_answer *answer)
{
    struct count *count = owner->state;

    if (answer->err.code < 0)
        count->is_old = true;
    else
        read_scalers(owner);
}

/* Starts to count. A budget without a selector has no pods, and one with an empty selector all. */
static void start_count(struct owner *owner)
{
    yyjson_val *selector = value_at(owner->object, "spec", "selector");
    struct count *count = owner->state;
    struct strbuf query;

    reset(count, owner);
    if (!selector) {
        count->is_full = true;
        return;
    }
    strbuf_init(&query, SELECTOR_TEXT_MAX);
    label_selector_format(selector, &query);
    if (!query.is_cut)
        owner_ask(owner,
                  &(struct kube_request){.verb = KUBE_LIST,
                                         .resource = kube_known(KUBE_PODS),
                                         .namespace = owner->namespace,
                                         .label_selector = query.text,
                                         /* One that breaks off has counted pods. */
                                         .tries = 1},
                  on_pod, on_listed);
    strbuf_done(&query);
}

static void set_status(struct owner *owner)
{
    const struct count *count = owner->state;
    struct budget_verdict verdict = budget_judge(owner->object, &count->sums);
    yyjson_mut_val *status = NULL;
    yyjson_mut_doc *doc = json_new_object(&status);
    yyjson_mut_val *conditions = status_conditions(doc, owner->object);

    status_set_condition(doc, conditions,
                         &(struct status_condition){.type = "DisruptionAllowed",
                                                    .status = verdict.allowed > 0 ? "True" : "False",
                                                    .reason = *count->problem       ? "SyncFailed"
                                                              : verdict.allowed > 0 ? "SufficientPods"
                                                                                    : "InsufficientPods",
                                                    .message = count->problem,
                                                    .generation = count->generation},
                         nsec_now_wall());
    (void)yyjson_mut_obj_add_int(doc, status, "disruptionsAllowed", verdict.allowed);
    (void)yyjson_mut_obj_add_int(doc, status, "currentHealthy", count->sums.healthy);
    (void)yyjson_mut_obj_add_int(doc, status, "desiredHealthy", verdict.desired);
    (void)yyjson_mut_obj_add_int(doc, status, "expectedPods", verdict.expected);
    status_add_count(doc, status, "observedGeneration", count->generation);
    status_keep(doc, status, owner->object, "disruptedPods");
    status_add_conditions(doc, status, conditions);
    (void)owner_set_status(owner, doc, status);
}

static void sync_budget(struct owner *owner)
{
    struct count *count = owner->state;

    if (!count)
        count = owner->state = xcalloc(1, sizeof *count);
    bool is_new = count->generation != number_at(owner->object, 0, "metadata", "generation");

    /* A count is told although pods have changed since it began: where they always do, it would never be told. */
    if (count->is_full && !is_new)
        set_status(owner);
    if ((is_new || count->is_old) && !owner_has_acted(owner)) {
        start_count(owner);
        if (count->is_full)
            set_status(owner);
    }
}

/* Any pod that a budget selects may change what it allows. */
static void seen(struct controller *controller, const struct follow_event *event)
{
    yyjson_val *labels = value_at(event->object, "metadata", "labels");
    struct owner *owner;

    for (size_t cursor = 0; (owner = controller_next_owner(controller, &cursor));) {
        yyjson_val *selector = value_at(owner->object, "spec", "selector");
        struct count *count = owner->state;

        if (strcmp(owner->namespace, event->namespace) != 0 || !selector ||
            (event->object && !label_selector_matches(selector, labels)))
            continue;
        if (count)
            count->is_old = true;
        work_add(controller->work, &owner->work);
    }
}

const struct controller_kind budgets_controller = {
    .service = CONTROLLER_SERVICE("disruption"),
    .component = "controllermanager",
    .owner = KUBE_POD_DISRUPTION_BUDGETS,
    .children = {KUBE_PODS},
    .child_kinds = 1,
    .sync = sync_budget,
    .seen = seen,
    .interval = INTERVAL,
    .forget = forget,
};
