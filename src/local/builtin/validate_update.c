/* SPDX-License-Identifier: Apache-2.0 */
/* What may not change: members that are fixed with the object, and all but a few members of pods. */
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "local/api/kinds.h"
#include "local/builtin/members.h"
#include "local/builtin/validate_internal.h"

static const struct {
    const char *plural;
    const char *member;
    const char *words;  // NULL: "field is immutable"
    bool is_forbidden;  // said without the value
} fixed[] = {
    {"secrets", "type", NULL, false},
    {"deployments", "spec.selector", NULL, false},
    {"replicasets", "spec.selector", NULL, false},
    {"daemonsets", "spec.selector", NULL, false},
    {"storageclasses", "parameters", NULL, false},
    {"storageclasses", "provisioner", NULL, false},
    {"storageclasses", "reclaimPolicy", NULL, false},
    {"storageclasses", "volumeBindingMode", NULL, false},
    {"runtimeclasses", "handler", NULL, false},
    {"priorityclasses", "value", "may not be changed in an update.", true},
    {"priorityclasses", "preemptionPolicy", NULL, false},
    {"volumeattachments", "spec", NULL, false},
    {"csidrivers", "spec.attachRequired", NULL, false},
    {"csidrivers", "spec.volumeLifecycleModes", NULL, false},
    {"csistoragecapacities", "nodeTopology", NULL, false},
    {"csistoragecapacities", "storageClassName", NULL, false},
    {"controllerrevisions", "data", NULL, false},
    {"resourceslices", "spec.driver", NULL, false},
    {"resourceslices", "spec.nodeName", NULL, false},
    {"resourceclaims", "spec", NULL, false},
    {"resourceclaimtemplates", "spec", NULL, false},
};

bool is_member_changed(const struct validating *validating, const char *path)
{
    yyjson_mut_val *now = member_get(validating->root, path);
    yyjson_mut_val *before = member_get(validating->old, path);

    return now || before ? !now || !before || !yyjson_mut_equals(now, before) : false;
}

/* ConfigMaps and Secrets that were declared so. */
static void check_immutable_data(struct validating *validating)
{
    static const char *const members[] = {"data", "binaryData"};
    const char *words = "field is immutable when `immutable` is set";

    if (!member_is_true(validating->old, "immutable"))
        return;
    if (!member_is_true(validating->root, "immutable"))
        problem_forbidden(validating->problems, FIELD(NULL, "immutable"), words);
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        if (is_member_changed(validating, members[i]))
            problem_forbidden(validating->problems, FIELD(NULL, members[i]), words);
}

/* --- StatefulSets and Jobs --- */

/* Whether two objects differ in another member than those named. */
static bool differs_beyond(yyjson_mut_val *a, yyjson_mut_val *b, const char *allowed)
{
    yyjson_mut_val *sides[] = {a, b};

    for (int side = 0; side < 2; side++) {
        yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(sides[side]);
        for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
            const char *name = yyjson_mut_get_str(key);
            yyjson_mut_val *other = yyjson_mut_obj_get(sides[!side], name);
            if (!kind_list_has(allowed, name) && !(other && yyjson_mut_equals(other, yyjson_mut_obj_iter_get_val(key))))
                return true;
        }
    }
    return false;
}

static void check_stateful_set_update(struct validating *validating)
{
    if (differs_beyond(member_get(validating->root, "spec"), member_get(validating->old, "spec"),
                       "replicas ordinals template updateStrategy revisionHistoryLimit "
                       "persistentVolumeClaimRetentionPolicy minReadySeconds"))
        problem_forbidden(validating->problems, FIELD(NULL, "spec"),
                          "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
                          "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
                          "'minReadySeconds' are forbidden");
}

static bool is_other(yyjson_mut_val *now, yyjson_mut_val *before)
{
    return now || before ? !now || !before || !yyjson_mut_equals(now, before) : false;
}

static bool differs_beyond_resources(yyjson_mut_val *now, yyjson_mut_val *before)
{
    yyjson_mut_arr_iter others = yyjson_mut_arr_iter_with(before);

    if (yyjson_mut_arr_size(now) != yyjson_mut_arr_size(before))
        return true;
    MEMBER_ITEMS (container, now)
        if (differs_beyond(container, yyjson_mut_arr_iter_next(&others), "resources"))
            return true;
    return false;
}

/* A Job that is suspended and has not started may be placed elsewhere, with other resources; that is how queues work. */
static void check_job_template(struct validating *validating)
{
    const struct field at = field_member(FIELD(NULL, "spec"), "template");
    yyjson_mut_val *now = member_get(validating->root, "spec.template");
    yyjson_mut_val *before = member_get(validating->old, "spec.template");
    yyjson_mut_val *pod = member_get(now, "spec"), *old_pod = member_get(before, "spec");

    if (!member_is_true(validating->old, "spec.suspend") || member_get(validating->old, "status.startTime")) {
        if (is_other(now, before))
            problem_invalid(validating->problems, &at, now, "field is immutable");
        return;
    }
    if (differs_beyond(pod, old_pod, "nodeSelector tolerations affinity schedulingGates containers initContainers") ||
        differs_beyond_resources(member_get(pod, "containers"), member_get(old_pod, "containers")) ||
        differs_beyond_resources(member_get(pod, "initContainers"), member_get(old_pod, "initContainers")))
        problem_invalid(validating->problems, FIELD(&at, "spec"), pod, "field is immutable");
}

static void check_fixed_member(struct validating *validating, const char *member)
{
    const struct field field = field_member(NULL, member);
    yyjson_mut_val *shown = member_get(validating->root, member);

    if (is_member_changed(validating, member))
        problem_invalid(validating->problems, &field, shown ? shown : yyjson_mut_null(validating->doc),
                        "field is immutable");
}

/* A Job with an index for each pod may grow and shrink. */
static void check_completions(struct validating *validating)
{
    const struct field spec = field_member(NULL, "spec");
    yyjson_mut_val *completions = member_get(validating->root, "spec.completions");

    if (!member_is(validating->root, "spec.completionMode", "Indexed"))
        check_fixed_member(validating, "spec.completions");
    else if (completions && is_member_changed(validating, "spec.completions") &&
             yyjson_mut_get_sint(completions) != member_number(validating->root, "spec.parallelism", 0))
        problem_invalid(validating->problems, FIELD(&spec, "completions"), completions,
                        "can only be modified in tandem with spec.parallelism");
}

/* In the order in which the API server tells about them. */
static void check_job_update(struct validating *validating)
{
    static const char *const others[] = {"spec.completionMode", "spec.podFailurePolicy", "spec.backoffLimitPerIndex",
                                         "spec.managedBy", "spec.successPolicy"};

    check_completions(validating);
    check_fixed_member(validating, "spec.selector");
    check_job_template(validating);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        check_fixed_member(validating, others[i]);
}

/* --- Pods --- */

/* Images may be replaced. */
static bool differs_in_containers(yyjson_mut_val *a, yyjson_mut_val *b)
{
    yyjson_mut_arr_iter others = yyjson_mut_arr_iter_with(b);

    MEMBER_ITEMS (container, a)
        if (differs_beyond(container, yyjson_mut_arr_iter_next(&others), "image"))
            return true;
    return false;
}

/* Tolerations may only be added. */
static bool lacks_tolerations(yyjson_mut_val *now, yyjson_mut_val *before)
{
    enum { COMPARED_MAX = 1000 };  // each is compared with each

    if (yyjson_mut_arr_size(now) > COMPARED_MAX || yyjson_mut_arr_size(before) > COMPARED_MAX)
        return !now || !before || !yyjson_mut_equals(now, before);
    MEMBER_ITEMS (toleration, before) {
        bool is_kept = false;
        MEMBER_ITEMS (other, now)
            is_kept = is_kept || yyjson_mut_equals(toleration, other) ||
                      !differs_beyond(toleration, other, "tolerationSeconds");
        if (!is_kept)
            return true;
    }
    return false;
}

static void check_gates(struct validating *validating, yyjson_mut_val *now, yyjson_mut_val *before)
{
    const struct field gates = field_member(FIELD(NULL, "spec"), "schedulingGates");
    struct strmap names = {0};
    size_t index = 0;

    MEMBER_ITEMS (gate, before)
        (void)strmap_put(&names, "", member_text(gate, "name"), gate);
    MEMBER_ITEMS (gate, now) {
        const struct field at = field_item(&gates, index++);
        char words[400];
        if (strmap_get(&names, "", member_text(gate, "name")))
            continue;
        (void)snprintf(words, sizeof words, "only deletion is allowed, but found new scheduling gate '%s'",
                       member_text(gate, "name"));
        problem_forbidden(validating->problems, FIELD(&at, "name"), words);
    }
    strmap_done(&names);
}

/* The time that a pod may run may only become shorter. */
static void check_deadline(struct validating *validating, yyjson_mut_val *now, yyjson_mut_val *before)
{
    const struct field spec = field_member(NULL, "spec");

    if (before && !now)
        problem_invalid(validating->problems, FIELD(&spec, "activeDeadlineSeconds"), yyjson_mut_null(validating->doc),
                        "must not update from a positive integer to nil value");
    else if (before && yyjson_mut_get_sint(now) > yyjson_mut_get_sint(before))
        problem_invalid(validating->problems, FIELD(&spec, "activeDeadlineSeconds"), now,
                        "must be less than or equal to previous value");
}

static void check_pod_update(struct validating *validating)
{
    static const char *const lists[] = {"containers", "initContainers"};
    const struct field spec = field_member(NULL, "spec");
    yyjson_mut_val *now = member_get(validating->root, "spec");
    yyjson_mut_val *before = member_get(validating->old, "spec");
    const char *placed = member_get(before, "schedulingGates")
                             ? "containers initContainers activeDeadlineSeconds tolerations "
                               "terminationGracePeriodSeconds schedulingGates nodeSelector affinity"
                             : "containers initContainers activeDeadlineSeconds tolerations "
                               "terminationGracePeriodSeconds schedulingGates";

    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        if (yyjson_mut_arr_size(member_get(now, lists[i])) != yyjson_mut_arr_size(member_get(before, lists[i]))) {
            problem_forbidden(validating->problems, FIELD(&spec, lists[i]),
                              "pod updates may not add or remove containers");
            return;
        }
    check_deadline(validating, member_get(now, "activeDeadlineSeconds"), member_get(before, "activeDeadlineSeconds"));
    check_gates(validating, member_get(now, "schedulingGates"), member_get(before, "schedulingGates"));
    if (lacks_tolerations(member_get(now, "tolerations"), member_get(before, "tolerations")))
        problem_forbidden(validating->problems, FIELD(&spec, "tolerations"),
                          "existing toleration can not be modified except its tolerationSeconds");
    if (differs_beyond(now, before, placed) ||
        differs_in_containers(member_get(now, "containers"), member_get(before, "containers")) ||
        differs_in_containers(member_get(now, "initContainers"), member_get(before, "initContainers")))
        problem_forbidden(
            validating->problems, &spec,
            "pod updates may not change fields other than `spec.containers[*].image`,"
            "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions "
            "to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it "
            "was previously negative)");
}

/* --- Claims and volumes --- */

static void check_claim_update(struct validating *validating)
{
    yyjson_mut_val *now = member_get(validating->root, "spec");
    yyjson_mut_val *before = member_get(validating->old, "spec");
    bool is_bound = member_is(validating->root, "status.phase", "Bound");
    char allowed[100];

    (void)snprintf(allowed, sizeof allowed, "%s %s %s", is_bound ? "resources volumeAttributesClassName" : "",
                   member_get(before, "volumeName") ? "" : "volumeName",
                   member_get(before, "storageClassName") ? "" : "storageClassName");
    if (differs_beyond(now, before, allowed) ||
        (is_bound && differs_beyond(member_get(now, "resources"), member_get(before, "resources"), "requests")))
        problem_forbidden(
            validating->problems, FIELD(NULL, "spec"),
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for "
            "bound claims");
    if (is_member_changed(validating, "spec.volumeMode"))
        problem_invalid(validating->problems, FIELD(NULL, "volumeMode"), member_get(now, "volumeMode"),
                        "field is immutable");
}

static void check_volume_update(struct validating *validating)
{
    if (differs_beyond(member_get(validating->root, "spec"), member_get(validating->old, "spec"), VOLUME_SETTINGS))
        problem_forbidden(validating->problems, FIELD(FIELD(NULL, "spec"), "persistentvolumesource"),
                          "spec.persistentvolumesource is immutable after creation");
}

/* The reference is shown in the form that it has inside of the API server. */
static void check_role_update(struct validating *validating)
{
    yyjson_mut_val *role = member_get(validating->root, "roleRef");
    struct strbuf words;

    if (!is_member_changed(validating, "roleRef"))
        return;
    strbuf_init(&words, PROBLEM_BYTES_MAX);
    strbuf_addf(&words, "Invalid value: {\"APIGroup\":\"%s\",\"Kind\":\"%s\",\"Name\":\"%s\"}: cannot change roleRef",
                member_text(role, "apiGroup"), member_text(role, "kind"), member_text(role, "name"));
    problem_add(validating->problems, PROBLEM_INVALID, FIELD(NULL, "roleRef"), words.text);
    strbuf_done(&words);
}

/* --- All kinds --- */

static void check_fixed(struct validating *validating)
{
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
        if (strcmp(fixed[i].plural, validating->kind->plural) != 0 || !is_member_changed(validating, fixed[i].member))
            continue;
        /* The API server misspells one. */
        bool is_misspelt = strcmp(fixed[i].member, "spec.attachRequired") == 0;
        const struct field field = field_member(NULL, is_misspelt ? "spec.attachedRequired" : fixed[i].member);
        const char *words = fixed[i].words ? fixed[i].words : "field is immutable";
        yyjson_mut_val *shown = member_get(validating->root, fixed[i].member);
        if (fixed[i].is_forbidden)
            problem_forbidden(validating->problems, &field, words);
        else
            problem_invalid(validating->problems, &field, shown ? shown : yyjson_mut_null(validating->doc), words);
    }
}

void check_update(struct validating *validating)
{
    static const struct {
        const char *plural;
        void (*check)(struct validating *validating);
    } rules[] = {
        {"configmaps", check_immutable_data},        {"secrets", check_immutable_data},
        {"services", check_service_update},          {"persistentvolumeclaims", check_claim_update},
        {"persistentvolumes", check_volume_update},  {"pods", check_pod_update},
        {"statefulsets", check_stateful_set_update}, {"jobs", check_job_update},
        {"rolebindings", check_role_update},         {"clusterrolebindings", check_role_update},
    };
    const char *plural = validating->kind->plural;

    check_fixed(validating);
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        if (strcmp(rules[i].plural, plural) == 0)
            rules[i].check(validating);
}
