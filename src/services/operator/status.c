/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Conditions of the Config and of shards, under KAI's types and reasons. `Reconciling` is true from a new generation until
 * all objects are written, so that whoever waits for it (kstatus, helm --wait) does not take an old answer for a new one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "kube/client/verbs.h"
#include "services/operator/conf.h"
#include "services/operator/merge.h"
#include "services/operator/operator_internal.h"
#include "services/operator/pack.h"
#include "text/json.h"

/* Messages of conditions may have 32 KiB. */
enum { MESSAGE_MAX = 16 << 10, CONDITIONS_MAX = 8 };

struct condition {
    const char *type;
    bool is_true;
    const char *reason;
    const char *message;
};

static void add_line(struct strbuf *text, size_t operand, const char *what)
{
    strbuf_addf(text, "%s%s: %s", text->len ? "\n" : "", operand_title(operand), what);
}

/* The objects of a source that are not there, and those that run but do not serve yet. */
static void survey(const struct operator* operator, const struct source * source, struct strbuf *missing,
                   struct strbuf *unavailable)
{
    char what[768];

    vec_foreach (&source->desired.objects, wanted) {
        const struct owned *owned = owned_find(operator, wanted->kind, wanted->namespace, wanted->name);
        const char *kind = owned_rows[wanted->kind].resource.kind;

        if (!owned || !owned->is_there || owned->done_wanted != owned->wanted) {
            bool has_failed = owned && owned->err.code < 0;

            (void)snprintf(what, sizeof what, "%s %s is not deployed%s%s", kind, wanted->name, has_failed ? ": " : "",
                           has_failed ? owned->err.text : "");
            add_line(missing, wanted->operand, what);
        }
        if (!owned || !owned->is_available) {
            (void)snprintf(what, sizeof what, "%s [%s] is not available", kind, wanted->name);
            add_line(unavailable, wanted->operand, what);
        }
    }
    if (source->err.code < 0)
        add_line(missing, source->is_config ? 0 : operand_count() - 1, source->err.text);
}

static yyjson_val *find_condition(yyjson_val *conditions, const char *type)
{
    size_t i, max;
    yyjson_val *found;

    yyjson_arr_foreach(conditions, i, max, found) if (strcmp(conf_text(found, "type", ""), type) == 0) return found;
    return NULL;
}

static yyjson_mut_val *condition_encode(yyjson_mut_doc *doc, const struct source *source,
                                        const struct condition *condition, yyjson_val *old)
{
    const char *status = condition->is_true ? "True" : "False";
    char now[TIME_TEXT_MAX];
    const char *since = conf_text(old, "lastTransitionTime", NULL);

    if (!since || strcmp(conf_text(old, "status", ""), status) != 0)
        since = time_format(nsec_now_wall() / NSEC_PER_SEC * NSEC_PER_SEC, now);
    yyjson_mut_val *value = pack(doc, "{type: %s, status: %s, reason: %s, message: %s, lastTransitionTime: %s}",
                                 condition->type, status, condition->reason, condition->message, since);

    (void)yyjson_mut_obj_add_sint(doc, value, "observedGeneration", source->generation);
    return value;
}

static bool is_listed(const struct condition *conditions, size_t count, const char *type)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(conditions[i].type, type) == 0)
            return true;
    return false;
}

/* The list as it should be: the given ones, and those of others as they are. */
static yyjson_mut_doc *conditions_encode(const struct source *source, const struct condition *conditions, size_t count)
{
    yyjson_val *old = conf_at(yyjson_doc_get_root(source->doc), "status.conditions");
    yyjson_mut_doc *doc = json_new_object(NULL);
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    size_t i, max;
    yyjson_val *other;

    for (size_t c = 0; c < count; c++)
        (void)yyjson_mut_arr_append(
            list, condition_encode(doc, source, &conditions[c], find_condition(old, conditions[c].type)));
    yyjson_arr_foreach(old, i, max, other) if (!is_listed(conditions, count, conf_text(other, "type", "")))(void)
        yyjson_mut_arr_append(list, pack_copy(doc, other));
    yyjson_mut_doc_set_root(doc, pack(doc, "{status: {conditions: %p}}", (void *)list));
    return doc;
}

static void on_status(void *arg, const struct kube_answer *answer)
{
    struct source *source = arg;

    source->status_call = NULL;
    if (answer->err.code < 0) {
        source->status_sent = 0;
        if (answer->status != 404)
            log_warn(source->operator->service->log, "conditions could not be written", log_str("object", source->name),
                     log_error(&answer->err));
        loop_timer_start(&source->operator->later, 2 * NSEC_PER_SEC);
        return;
    }
    operator_wake(source->operator);
}

static bool is_the_same(const struct source *source, yyjson_mut_doc *doc)
{
    yyjson_val *old = conf_at(yyjson_doc_get_root(source->doc), "status.conditions");
    yyjson_mut_val *status = yyjson_mut_obj_get(yyjson_mut_doc_get_root(doc), "status");
    yyjson_mut_doc *copy = yyjson_mut_doc_new(NULL);
    bool is_equal = old && yyjson_mut_equals(yyjson_val_mut_copy(copy, old), yyjson_mut_obj_get(status, "conditions"));

    yyjson_mut_doc_free(copy);
    return is_equal;
}

static void send_conditions(struct operator* operator, struct source * source, const struct condition *conditions,
                            size_t count)
{
    yyjson_mut_doc *doc = conditions_encode(source, conditions, count);
    uint64_t digest = digest_wanted(yyjson_mut_doc_get_root(doc));

    /* What was sent is on its way back by the watch. */
    if (!source->status_call && !is_the_same(source, doc) && digest != source->status_sent) {
        source->status_sent = digest;
        source->status_call =
            kube_send_doc(operator->service->client,
                          &(struct kube_request){
                              .verb = KUBE_PATCH_MERGE,
                              .resource = kube_known(source->is_config ? KUBE_CONFIGS : KUBE_SCHEDULING_SHARDS),
                              .name = source->name,
                              .subresource = "status",
                              .is_repeatable = true,
                              .on_done = on_status,
                              .arg = source,
                          },
                          doc);
    }
    yyjson_mut_doc_free(doc);
}

static bool is_generation_known(const struct source *source)
{
    yyjson_val *conditions = conf_at(yyjson_doc_get_root(source->doc), "status.conditions");

    return conf_int(find_condition(conditions, "Reconciling"), "observedGeneration", -1) == source->generation;
}

void operator_report(struct operator* operator, struct source * source, bool is_busy)
{
    struct strbuf missing, unavailable;
    char dependency[256] = "";
    struct condition conditions[CONDITIONS_MAX];
    size_t count = 0;

    strbuf_init(&missing, MESSAGE_MAX);
    strbuf_init(&unavailable, MESSAGE_MAX);
    survey(operator, source, &missing, &unavailable);
    bool is_deployed = missing.len == 0;
    bool is_available = is_deployed && unavailable.len == 0;

    if (source->desired.missing)
        (void)snprintf(dependency, sizeof dependency, "%s is missing %s", operand_title(source->desired.missing_of),
                       source->desired.missing);
    conditions[count++] =
        (struct condition){"Deployed", is_deployed, "deployed", is_deployed ? "Resources deployed" : missing.text};
    if (!is_busy || source->err.code < 0) {
        conditions[count++] =
            (struct condition){"Available", is_available, "available",
                               is_available ? "System available" : (is_deployed ? unavailable.text : missing.text)};
        conditions[count++] = (struct condition){"DependenciesFulfilled", !dependency[0],
                                                 dependency[0] ? "dependencies_missing" : "dependencies_fulfilled",
                                                 dependency[0] ? dependency : "Dependencies are fulfilled"};
        conditions[count++] = (struct condition){"Ready", is_available, is_available ? "ready" : "not_ready",
                                                 is_available ? "System is ready" : "System not ready"};
        conditions[count++] =
            (struct condition){"Reconciling", false, "reconciled", "Reconciliation completed successfully"};
        if (source->err.code < 0)
            conditions[count - 1] = (struct condition){"Reconciling", true, "reconciling", source->err.text};
        send_conditions(operator, source, conditions, count);
    } else if (!is_generation_known(source)) {
        conditions[count++] = (struct condition){"Reconciling", true, "reconciling", "Reconciliation in progress"};
        send_conditions(operator, source, conditions, count);
    }
    strbuf_done(&missing);
    strbuf_done(&unavailable);
}
