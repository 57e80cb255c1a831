/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object is walked along its types, as for its defaults: each struct is checked by its rows of the table, then by a
 * function where members depend on each other.
 */
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "base/text_is.h"
#include "local/api/kinds.h"
#include "local/api/names.h"
#include "local/builtin/builtin.h"
#include "local/builtin/event_forms.h"
#include "local/builtin/members.h"
#include "local/builtin/validate_internal.h"
#include "local/wire/types.h"

static const struct {
    const char *type;
    void (*check)(struct validating *validating, yyjson_mut_val *object, const struct field *field);
} checks[] = {
    {"PodSpec", check_pod_spec},
    {"Container", check_container},
    {"Toleration", check_toleration},
    {"NodeSelectorRequirement", check_requirement},
    {"LabelSelectorRequirement", check_requirement},
    {"Probe", check_probe},
    {"EnvVar", check_env},
    {"Volume", check_volume},
    {"ServiceSpec", check_service},
    {"DeploymentSpec", check_deployment},
    {"ReplicaSetSpec", check_workload},
    {"StatefulSetSpec", check_stateful_set},
    {"DaemonSetSpec", check_daemon_set},
    {"PodTemplateSpec", check_template},
    {"NetworkPolicySpec", check_network_policy},
    {"MutatingWebhookConfiguration", check_webhooks},
    {"ValidatingWebhookConfiguration", check_webhooks},
    {"Node", check_node},
    {"PodDisruptionBudgetSpec", check_budget},
    {"ResourceQuotaSpec", check_quota},
    {"Ingress", check_ingress},
    {"LimitRangeItem", check_limits},
    {"Job", check_generated},
    {"JobSpec", check_job_indexes},
    {"JobSpec", check_job_replacement},
    {"CronJobSpec", check_cron_job},
    {"ConfigMap", check_config_map},
    {"Secret", check_secret},
    {"PersistentVolumeClaimSpec", check_claim},
    {"PersistentVolumeSpec", check_persistent_volume},
    {"PolicyRule", check_rule},
    {"RoleBinding", check_binding},
    {"ClusterRoleBinding", check_binding},
    {"PriorityClass", check_priority_class},
    {"Overhead", check_overhead},
    {"Event", check_event},
    {"DeviceClaim", check_device_claim},
    {"ResourceSliceSpec", check_slice},
};

/* Those that the API server checks behind their members. */
static const struct {
    const char *type;
    void (*check)(struct validating *validating, yyjson_mut_val *object, const struct field *field);
} late_checks[] = {
    {"JobSpec", check_job},
};

/* --- Metadata --- */

static bool is_kind(const struct validating *validating, const char *plural)
{
    return strcmp(validating->kind->plural, plural) == 0;
}

static bool is_of_group(const struct validating *validating, const char *group)
{
    return strcmp(validating->kind->group, group) == 0;
}

static void check_path_segment(struct problems *problems, const struct field *field, const char *name)
{
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        problem_invalid_text(problems, field, name, name[1] ? "may not be '..'" : "may not be '.'");
    if (strchr(name, '/'))
        problem_invalid_text(problems, field, name, "may not contain '/'");
    if (strchr(name, '%'))
        problem_invalid_text(problems, field, name, "may not contain '%'");
}

/* Those of the core may have any name that a path can have. */
static void check_event_name(struct problems *problems, const struct field *field, const char *name)
{
    check_subdomain(problems, field, name);
    check_path_segment(problems, field, name);
}

static void check_name(struct validating *validating, const struct field *field, const char *name)
{
    enum { CRON_JOB_NAME_MAX = 52 };

    if (is_kind(validating, "namespaces") || is_kind(validating, "services"))
        check_dns_label(validating->problems, field, name);
    else if (is_of_group(validating, "events.k8s.io"))
        check_event_name(validating->problems, field, name);
    else if (is_of_group(validating, "rbac.authorization.k8s.io") || is_kind(validating, "events"))
        check_path_segment(validating->problems, field, name);
    else
        check_subdomain(validating->problems, field, name);
    if (is_kind(validating, "cronjobs") && strlen(name) > CRON_JOB_NAME_MAX)
        problem_invalid_text(validating->problems, field, name, "must be no more than 52 characters");
}

static void check_annotations(struct validating *validating, const struct field *meta, yyjson_mut_val *annotations)
{
    enum { ANNOTATIONS_BYTES_MAX = 256 << 10 };
    const struct field field = field_member(meta, "annotations");
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(annotations);
    size_t size = 0;

    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        /* Letters count as lower case here. */
        check_label_key(validating->problems, &field, yyjson_mut_get_str(key));
        size += yyjson_mut_get_len(key) + yyjson_mut_get_len(yyjson_mut_obj_iter_get_val(key));
    }
    if (size > ANNOTATIONS_BYTES_MAX)
        problem_too_long(validating->problems, &field, ANNOTATIONS_BYTES_MAX);
}

static void check_owners(struct validating *validating, const struct field *meta, yyjson_mut_val *owners)
{
    static const char *const required[] = {"apiVersion", "kind", "name", "uid"};
    const struct field field = field_member(meta, "ownerReferences");
    yyjson_mut_val *controller = NULL;

    MEMBER_ITEMS (owner, owners) {
        for (size_t i = 0; i < ARRAY_LEN(required); i++)
            if (!*member_text(owner, required[i]))
                problem_invalid_text(validating->problems, FIELD(&field, required[i]), "",
                                     i ? "must not be empty" : "version must not be empty");
        if (!member_is_true(owner, "controller"))
            continue;
        if (controller) {
            struct strbuf words;
            strbuf_init(&words, PROBLEM_BYTES_MAX);
            strbuf_addf(&words,
                        "Only one reference can have Controller set to true. Found \"true\" in references for %s/%s "
                        "and %s/%s",
                        member_text(controller, "kind"), member_text(controller, "name"), member_text(owner, "kind"),
                        member_text(owner, "name"));
            problem_invalid(validating->problems, &field, owners, words.text);
            strbuf_done(&words);
        }
        controller = owner;
    }
}

static void check_finalizers(struct validating *validating, const struct field *meta, yyjson_mut_val *finalizers)
{
    static const char *const standard[] = {"foregroundDeletion", "orphan", "kubernetes"};
    const struct field field = field_member(meta, "finalizers");
    size_t index = 0;

    MEMBER_ITEMS (finalizer, finalizers) {
        const char *name = yyjson_mut_get_str(finalizer);
        const struct field item = field_item(&field, index++);
        bool is_standard = false;

        check_label_key(validating->problems, &field, name);
        for (size_t i = 0; i < ARRAY_LEN(standard); i++)
            is_standard = is_standard || strcmp(name, standard[i]) == 0;
        if (!is_standard && !strchr(name, '/') && !validating->old)
            problem_invalid_text(validating->problems, &item, name,
                                 "name is neither a standard finalizer name nor is it fully qualified");
    }
}

void check_metadata(struct validating *validating)
{
    const struct field field = field_member(NULL, "metadata");
    yyjson_mut_val *meta = member_get(validating->root, "metadata");

    if (!validating->old && *member_text(meta, "name"))
        check_name(validating, FIELD(&field, "name"), member_text(meta, "name"));
    check_labels(validating->problems, FIELD(&field, "labels"), member_get(meta, "labels"));
    check_annotations(validating, &field, member_get(meta, "annotations"));
    check_owners(validating, &field, member_get(meta, "ownerReferences"));
    check_finalizers(validating, &field, member_get(meta, "finalizers"));
}

/* --- The walk --- */

static void walk(struct validating *validating, const struct type *type, yyjson_mut_val *object,
                 const struct field *field);

static void walk_elements(struct validating *validating, const struct type_row *row, yyjson_mut_val *value,
                          const struct field *field)
{
    const struct type *type = row_struct(row);
    size_t index = 0;

    if (row->flags & ROW_LIST) {
        MEMBER_ITEMS (item, value) {
            const struct field at = field_item(field, index++);
            walk(validating, type, item, &at);
        }
    } else if (row->flags & ROW_MAP) {
        yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(value);
        for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
            const struct field at = field_key(field, yyjson_mut_get_str(key));
            walk(validating, type, yyjson_mut_obj_iter_get_val(key), &at);
        }
    } else {
        walk(validating, type, value, field);
    }
}

static void apply_checks(struct validating *validating, const struct type *type, yyjson_mut_val *object,
                         const struct field *field)
{
    const char *group = type_group(type);
    const char *name = type_name(type);
    const struct value_rule *rule;

    for (size_t i = 0; (rule = value_rule_at(i)); i++)
        if (text_is(rule->type, name) && text_is(rule->group, group))
            value_check(validating, rule, object, field);
    for (size_t i = 0; i < ARRAY_LEN(checks); i++)
        if (text_is(checks[i].type, name))
            checks[i].check(validating, object, field);
}

static void apply_late_checks(struct validating *validating, const struct type *type, yyjson_mut_val *object,
                              const struct field *field)
{
    for (size_t i = 0; i < ARRAY_LEN(late_checks); i++)
        if (text_is(late_checks[i].type, type_name(type)))
            late_checks[i].check(validating, object, field);
}

static void walk(struct validating *validating, const struct type *type, yyjson_mut_val *object,
                 const struct field *field)
{
    if (!yyjson_mut_is_obj(object))
        return;
    apply_checks(validating, type, object, field);
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(object);
    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        const char *name = yyjson_mut_get_str(key);
        const struct type_row *row = type_member(type, name);
        const struct field at = field_member(field, name);
        /* A status is not written here, and metadata is checked before. */
        bool is_walked = field || (strcmp(name, "status") != 0 && strcmp(name, "metadata") != 0);
        if (row && row_struct(row) && !type_is_schema(row_struct(row)) && is_walked)
            walk_elements(validating, row, yyjson_mut_obj_iter_get_val(key), &at);
    }
    apply_late_checks(validating, type, object, field);
}

static void validate(const struct api_kind *kind, yyjson_mut_doc *doc, yyjson_mut_doc *old, struct problems *problems)
{
    const struct api_kind *stored = api_kind_stored(kind);
    const struct type *type = type_find(stored->group, stored->version, stored->kind);
    struct validating validating = {
        .kind = kind,
        .doc = doc,
        .root = yyjson_mut_doc_get_root(doc),
        .old = yyjson_mut_doc_get_root(old),
        .problems = problems,
    };

    bool is_fixed_first = is_kind(&validating, "services") || is_kind(&validating, "secrets") ||
                          is_kind(&validating, "configmaps") || is_kind(&validating, "resourceslices");

    if (is_kind(&validating, "services") && !check_service_addresses(&validating))
        return;
    check_metadata(&validating);
    if (validating.old && is_fixed_first)
        check_update(&validating);
    /* The API server checks some kinds as new ones, and then again as changed ones. */
    bool is_checked_again =
        validating.old && (is_kind(&validating, "jobs") || is_kind(&validating, "persistentvolumes"));
    for (int i = 0; type && i < 1 + is_checked_again; i++) {
        validating.is_second = i > 0;
        walk(&validating, type, validating.root, NULL);
    }
    if (validating.old && !is_fixed_first)
        check_update(&validating);
}

static yyjson_mut_doc *copy_as_stored(const struct api_kind *kind, yyjson_mut_doc *doc)
{
    yyjson_mut_doc *copy = doc ? yyjson_mut_doc_mut_copy(doc, NULL) : NULL;

    BUG_ON(doc && !copy);
    if (copy)
        event_form_store(kind, copy);
    return copy;
}

void builtin_validate(const struct api_kind *kind, yyjson_mut_doc *doc, yyjson_mut_doc *old, struct problems *problems)
{
    if (!(kind->flags & KIND_OTHER_FORM)) {
        validate(kind, doc, old, problems);
        return;
    }
    yyjson_mut_doc *stored = copy_as_stored(kind, doc);
    yyjson_mut_doc *stored_old = copy_as_stored(kind, old);

    validate(kind, stored, stored_old, problems);
    yyjson_mut_doc_free(stored);
    yyjson_mut_doc_free(stored_old);
}
