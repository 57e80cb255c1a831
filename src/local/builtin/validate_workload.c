/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/macros.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/builtin/members.h"
#include "local/builtin/validate_internal.h"
#include "text/clock/cron.h"

/* --- Selectors and templates --- */

/* Whether one requirement of a selector holds. */
static bool holds(yyjson_mut_val *requirement, yyjson_mut_val *labels)
{
    const char *op = member_text(requirement, "operator");
    const char *value = yyjson_mut_get_str(yyjson_mut_obj_get(labels, member_text(requirement, "key")));
    bool is_listed = false;

    MEMBER_ITEMS (item, member_get(requirement, "values"))
        is_listed = is_listed || (value && yyjson_mut_equals_str(item, value));
    if (strcmp(op, "In") == 0)
        return is_listed;
    if (strcmp(op, "NotIn") == 0)
        return !is_listed;
    return strcmp(op, "Exists") == 0 ? value != NULL : value == NULL;
}

static bool selects(yyjson_mut_val *selector, yyjson_mut_val *labels)
{
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(member_get(selector, "matchLabels"));

    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        yyjson_mut_val *value = yyjson_mut_obj_get(labels, yyjson_mut_get_str(key));
        if (!value || !yyjson_mut_equals(value, yyjson_mut_obj_iter_get_val(key)))
            return false;
    }
    MEMBER_ITEMS (requirement, member_get(selector, "matchExpressions"))
        if (!holds(requirement, labels))
            return false;
    return selector != NULL;
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(yyjson_mut_get_str(*(yyjson_mut_val *const *)a), yyjson_mut_get_str(*(yyjson_mut_val *const *)b));
}

/* A copy of a map with its keys in order: that is how Go shows one. */
yyjson_mut_val *sorted_map(yyjson_mut_doc *doc, yyjson_mut_val *map)
{
    size_t count = yyjson_mut_obj_size(map), len = 0;
    yyjson_mut_val **keys = xcalloc(count + 1, sizeof *keys);
    yyjson_mut_val *sorted = yyjson_mut_obj(doc);
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(map);

    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));)
        keys[len++] = key;
    qsort(keys, len, sizeof *keys, compare_keys);
    for (size_t i = 0; i < len; i++)
        (void)yyjson_mut_obj_add(sorted, yyjson_mut_val_mut_copy(doc, keys[i]),
                                 yyjson_mut_val_mut_copy(doc, yyjson_mut_obj_iter_get_val(keys[i])));
    free(keys);
    return sorted;
}

static void check_template_labels(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    const struct field meta = field_member(FIELD(field, "template"), "metadata");
    yyjson_mut_val *labels = member_get(spec, "template.metadata.labels");

    if (!selects(member_get(spec, "selector"), labels))
        problem_invalid(validating->problems, FIELD(&meta, "labels"),
                        labels ? sorted_map(validating->doc, labels) : yyjson_mut_null(validating->doc),
                        "`selector` does not match template `labels`");
}

/* Kinds with a singular of one word, as the message has them. */
static void check_selector(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    const struct field at = field_member(field, "selector");
    yyjson_mut_val *selector = member_get(spec, "selector");
    struct strbuf words;

    /* A DaemonSet without a selector is told only that it does not match its template. */
    if (!selector && strcmp(validating->kind->plural, "daemonsets") != 0) {
        problem_required(validating->problems, &at, "");
    } else if (!selector) {
        return;
    } else if (yyjson_mut_obj_size(selector) == 0) {
        strbuf_init(&words, PROBLEM_BYTES_MAX);
        strbuf_addf(&words, "empty selector is invalid for %s", validating->kind->singular);
        problem_invalid(validating->problems, &at, selector, words.text);
        strbuf_done(&words);
    }
}

/* A selector that is wrong in itself has been reported; whether it matches cannot be said. */
static bool has_good_operators(yyjson_mut_val *selector)
{
    static const char *const known[] = {"In", "NotIn", "Exists", "DoesNotExist"};

    MEMBER_ITEMS (requirement, member_get(selector, "matchExpressions")) {
        const char *op = member_text(requirement, "operator");
        bool is_known = false;
        for (size_t i = 0; i < ARRAY_LEN(known); i++)
            is_known = is_known || strcmp(op, known[i]) == 0;
        bool needs_values = strcmp(op, "In") == 0 || strcmp(op, "NotIn") == 0;
        if (!is_known || (needs_values && !member_get(requirement, "values")))
            return false;
    }
    return true;
}

static void check_restart_policy(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    const struct field pod = field_member(FIELD(field, "template"), "spec");
    yyjson_mut_val *policy = member_get(spec, "template.spec.restartPolicy");

    if (yyjson_mut_equals_str(policy, "OnFailure") || yyjson_mut_equals_str(policy, "Never"))
        problem_not_supported(validating->problems, FIELD(&pod, "restartPolicy"), policy, "Always");
}

void check_workload(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    yyjson_mut_val *selector = member_get(spec, "selector");

    check_selector(validating, spec, field);
    if (has_good_operators(selector))
        check_template_labels(validating, spec, field);
    else
        problem_invalid(validating->problems, FIELD(field, "selector"), selector, "invalid label selector");
    check_restart_policy(validating, spec, field);
}

/* The API server shows the whole strategy, in the form that it has inside of it. */
static void check_strategy(struct validating *validating, yyjson_mut_val *strategy, const struct field *field,
                           const char *known, enum problem_reason reason, const char *words)
{
    struct strbuf text;

    if (kind_list_has(known, member_text(strategy, "type")))
        return;
    strbuf_init(&text, PROBLEM_BYTES_MAX);
    strbuf_addf(&text, "%s value: {\"Type\":\"%s\",\"RollingUpdate\":null}: %s",
                reason == PROBLEM_INVALID ? "Invalid" : "Unsupported", member_text(strategy, "type"), words);
    problem_add(validating->problems, reason, field, text.text);
    strbuf_done(&text);
}

void check_stateful_set(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    const char *policy = member_text(spec, "podManagementPolicy");

    if (strcmp(policy, "OrderedReady") != 0 && strcmp(policy, "Parallel") != 0)
        problem_invalid_text(validating->problems, FIELD(field, "podManagementPolicy"), policy,
                             "must be 'OrderedReady' or 'Parallel'");
    check_strategy(validating, member_get(spec, "updateStrategy"), FIELD(field, "updateStrategy"),
                   "RollingUpdate OnDelete", PROBLEM_INVALID, "must be 'RollingUpdate' or 'OnDelete'");
    check_workload(validating, spec, field);
}

void check_daemon_set(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    check_workload(validating, spec, field);
    check_strategy(validating, member_get(spec, "updateStrategy"), FIELD(field, "updateStrategy"),
                   "RollingUpdate OnDelete", PROBLEM_NOT_SUPPORTED,
                   "supported values: \"RollingUpdate\", "
                   "\"OnDelete\"");
}

void check_deployment(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    const struct field strategy_field = field_member(field, "strategy");
    const struct field rolling_field = field_member(&strategy_field, "rollingUpdate");
    yyjson_mut_val *strategy = member_get(spec, "strategy");
    yyjson_mut_val *rolling = member_get(strategy, "rollingUpdate");
    const char *type = member_text(strategy, "type");
    int64_t deadline = member_number(spec, "progressDeadlineSeconds", INT64_MAX);

    check_workload(validating, spec, field);
    check_strategy(validating, strategy, &strategy_field, "Recreate RollingUpdate", PROBLEM_NOT_SUPPORTED,
                   "supported values: \"Recreate\", "
                   "\"RollingUpdate\"");
    if (strcmp(type, "Recreate") == 0 && rolling)
        problem_forbidden(validating->problems, &rolling_field,
                          "may not be specified when strategy `type` is 'Recreate'");
    else if (member_number(rolling, "maxUnavailable", 1) == 0 && member_number(rolling, "maxSurge", 1) == 0)
        problem_invalid_number(validating->problems, FIELD(&rolling_field, "maxUnavailable"), 0,
                               "may not be 0 when `maxSurge` is 0");
    if (deadline >= 0 && deadline <= member_number(spec, "minReadySeconds", 0))
        problem_invalid_number(validating->problems, FIELD(field, "progressDeadlineSeconds"), deadline,
                               "must be greater than minReadySeconds");
}

/* --- Jobs --- */

static void check_generated_label(struct validating *validating, yyjson_mut_val *labels, const char *key,
                                  const char *wanted)
{
    const struct field metadata = field_member(FIELD(FIELD(NULL, "spec"), "template"), "metadata");
    const struct field all = field_member(&metadata, "labels");
    const struct field at = field_key(&all, key);
    yyjson_mut_val *found = yyjson_mut_obj_get(labels, key);
    char words[300];

    (void)snprintf(words, sizeof words, "must be '%s'", wanted);
    if (!found)
        problem_required(validating->problems, &at, words);
    else if (!yyjson_mut_equals_str(found, wanted))
        problem_invalid(validating->problems, &at, sorted_map(validating->doc, labels), words);
}

/* A selector that was generated names the job's uid and nothing else, and the template has the labels that go with it. */
void check_generated(struct validating *validating, yyjson_mut_val *job, const struct field *field)
{
    yyjson_mut_val *selector = member_get(job, "spec.selector");
    yyjson_mut_val *labels = member_get(job, "spec.template.metadata.labels");
    yyjson_mut_val *wanted = member_get(selector, "matchLabels");
    const char *uid = member_text(job, "metadata.uid"), *name = member_text(job, "metadata.name");

    if (validating->is_second || !selector || member_is_true(job, "spec.manualSelector"))
        return;
    check_generated_label(validating, labels, "controller-uid", uid);
    check_generated_label(validating, labels, "job-name", name);
    check_generated_label(validating, labels, "batch.kubernetes.io/controller-uid", uid);
    check_generated_label(validating, labels, "batch.kubernetes.io/job-name", name);
    if (yyjson_mut_obj_size(wanted) != 1 || member_get(selector, "matchExpressions") ||
        !yyjson_mut_equals_str(yyjson_mut_obj_get(wanted, "batch.kubernetes.io/controller-uid"), uid))
        problem_invalid(validating->problems, FIELD(FIELD(field, "spec"), "selector"), selector,
                        "`selector` not auto-generated");
}

static void check_job_policy(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    const struct field pod = field_member(FIELD(field, "template"), "spec");
    yyjson_mut_val *policy = member_get(spec, "template.spec.restartPolicy");
    const char *name = member_text(spec, "template.spec.restartPolicy");

    if (!*name || strcmp(name, "Always") == 0)
        problem_required(validating->problems, FIELD(&pod, "restartPolicy"), "valid values: \"OnFailure\", \"Never\"");
    else if (strcmp(name, "OnFailure") != 0 && strcmp(name, "Never") != 0)
        problem_not_supported(validating->problems, FIELD(&pod, "restartPolicy"), policy, "OnFailure Never");
    else if (strcmp(name, "Never") != 0 && member_get(spec, "podFailurePolicy"))
        problem_invalid_text(validating->problems, FIELD(&pod, "restartPolicy"), name,
                             "only \"Never\" is supported when podFailurePolicy is specified");
}

void check_job_indexes(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    bool is_indexed = member_is(spec, "completionMode", "Indexed");
    yyjson_mut_val *limit = member_get(spec, "backoffLimitPerIndex");

    if (is_indexed && !member_get(spec, "completions"))
        problem_required(validating->problems, FIELD(field, "completions"), "when completion mode is Indexed");
    if (!is_indexed && limit)
        problem_invalid(validating->problems, FIELD(field, "backoffLimitPerIndex"), limit,
                        "requires indexed completion mode");
}

void check_job_replacement(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    const char *supported = member_get(spec, "podFailurePolicy") ? "Failed" : "Failed TerminatingOrFailed";
    yyjson_mut_val *policy = member_get(spec, "podReplacementPolicy");

    if (policy && !kind_list_has(supported, yyjson_mut_get_str(policy)))
        problem_not_supported(validating->problems, FIELD(field, "podReplacementPolicy"), policy, supported);
}

void check_job(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    bool is_job = strcmp(validating->kind->plural, "jobs") == 0;

    check_job_policy(validating, spec, field);
    if (!is_job)
        return;
    if (!member_get(spec, "selector"))
        problem_required(validating->problems, FIELD(field, "selector"), "");
    check_template_labels(validating, spec, field);
}

enum { CRON_FIELDS = 5 };

static size_t count_fields(const char *schedule)
{
    size_t count = 0;

    for (const char *at = schedule + strspn(schedule, " "); *at; at += strspn(at, " ")) {
        at += strcspn(at, " ");
        count++;
    }
    return count;
}

static void report_fields(struct validating *validating, const struct field *field, const char *schedule)
{
    struct strbuf words;

    strbuf_init(&words, PROBLEM_BYTES_MAX);
    strbuf_addf(&words, "expected exactly 5 fields, found %zu: [%s]", count_fields(schedule), schedule);
    problem_invalid_text(validating->problems, field, schedule, words.text);
    strbuf_done(&words);
}

void check_cron_job(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    const char *schedule = member_text(spec, "schedule");
    const struct field at = field_member(field, "schedule");
    struct err err = {0};
    struct cron cron;

    if (!*schedule)
        problem_required(validating->problems, &at, "");
    else if (strstr(schedule, "TZ"))
        problem_invalid_text(validating->problems, &at, schedule,
                             "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
    else if (*schedule != '@' && count_fields(schedule) != CRON_FIELDS)
        report_fields(validating, &at, schedule);
    else if (cron_parse(schedule, &cron, &err) < 0)
        problem_invalid_text(validating->problems, &at, schedule, err.text);
}
