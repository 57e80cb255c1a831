/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/macros.h"
#include "local/builtin/default_internal.h"
#include "local/builtin/members.h"
#include "text/quantity.h"

static const char *const container_lists[] = {"containers", "initContainers"};

/* --- Containers and volumes --- */

/* An image without a tag or digest is the latest one. */
static bool is_latest(const char *image)
{
    const char *name = strrchr(image, '/');

    name = name ? name + 1 : image;
    if (!*name || strchr(name, '@'))
        return false;
    const char *tag = strchr(name, ':');
    return !tag || strcmp(tag, ":latest") == 0;
}

void default_container(struct defaulting *defaulting, yyjson_mut_val *container)
{
    const char *policy = is_latest(member_text(container, "image")) ? "Always" : "IfNotPresent";
    yyjson_mut_doc *doc = defaulting->doc;

    member_default(doc, container, "terminationMessagePath", yyjson_mut_str(doc, "/dev/termination-log"));
    member_default(doc, container, "terminationMessagePolicy", yyjson_mut_str(doc, "File"));
    member_default(doc, container, "imagePullPolicy", yyjson_mut_str(doc, policy));
}

void default_volume(struct defaulting *defaulting, yyjson_mut_val *volume)
{
    yyjson_mut_val *image = member_get(volume, "image");

    /* A name and nothing else. */
    if (yyjson_mut_obj_size(volume) == 1 && yyjson_mut_obj_get(volume, "name"))
        member_set(defaulting->doc, volume, "emptyDir", yyjson_mut_obj(defaulting->doc));
    if (image)
        member_default(
            defaulting->doc, image, "pullPolicy",
            yyjson_mut_str(defaulting->doc, is_latest(member_text(image, "reference")) ? "Always" : "IfNotPresent"));
}

void default_amounts(struct defaulting *defaulting, yyjson_mut_val *amounts)
{
    const quantity_nano milli = QUANTITY_NANO_PER_ONE / 1000;
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(amounts);
    char text[QUANTITY_EXACT_TEXT_MAX];

    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        yyjson_mut_val *amount = yyjson_mut_obj_iter_get_val(key);
        struct quantity quantity = {0};

        if (!yyjson_mut_is_str(amount) || quantity_parse_exact(yyjson_mut_get_str(amount), &quantity, NULL) < 0 ||
            quantity.nano % milli == 0)
            continue;
        quantity.nano += milli - quantity.nano % milli;
        yyjson_mut_set_str(
            amount, yyjson_mut_get_str(yyjson_mut_strcpy(defaulting->doc, quantity_format_exact(&quantity, text))));
    }
}

/* --- Pods --- */

/* The older name of the member is kept beside the newer one. */
void default_pod_spec(struct defaulting *defaulting, yyjson_mut_val *spec)
{
    const char *account = member_text(spec, "serviceAccountName");

    if (!*account)
        account = member_text(spec, "serviceAccount");
    if (!*account)
        return;
    member_set_text(defaulting->doc, spec, "serviceAccountName", account);
    member_set_text(defaulting->doc, spec, "serviceAccount", account);
}

/* What is limited and not requested is requested up to its limit. */
static void default_requests(struct defaulting *defaulting, yyjson_mut_val *container)
{
    yyjson_mut_val *resources = member_get(container, "resources");
    yyjson_mut_val *limits = member_get(resources, "limits");

    if (!limits)
        return;
    yyjson_mut_val *requests = member_object(defaulting->doc, resources, "requests");
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(limits);
    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));)
        member_default(defaulting->doc, requests, yyjson_mut_get_str(key),
                       yyjson_mut_val_mut_copy(defaulting->doc, yyjson_mut_obj_iter_get_val(key)));
}

static void default_host_ports(struct defaulting *defaulting, yyjson_mut_val *container)
{
    MEMBER_ITEMS (port, member_get(container, "ports")) {
        yyjson_mut_val *number = member_get(port, "containerPort");
        if (number)
            member_default(defaulting->doc, port, "hostPort", yyjson_mut_val_mut_copy(defaulting->doc, number));
    }
}

/* Whether a toleration takes the taint with effect NoExecute already. */
static bool is_tolerated(yyjson_mut_val *tolerations, const char *key)
{
    MEMBER_ITEMS (toleration, tolerations) {
        const char *effect = member_text(toleration, "effect");
        const char *tolerated = member_text(toleration, "key");
        if ((strcmp(tolerated, key) == 0 || !*tolerated) && (!*effect || strcmp(effect, "NoExecute") == 0))
            return true;
    }
    return false;
}

/* A pod stays for five minutes on a node that is lost. */
static void default_tolerations(struct defaulting *defaulting, yyjson_mut_val *spec)
{
    static const char *const taints[] = {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"};
    yyjson_mut_doc *doc = defaulting->doc;
    bool is_taken[ARRAY_LEN(taints)];

    for (size_t i = 0; i < ARRAY_LEN(taints); i++)
        is_taken[i] = is_tolerated(member_get(spec, "tolerations"), taints[i]);
    for (size_t i = 0; i < ARRAY_LEN(taints); i++) {
        if (is_taken[i])
            continue;
        member_default(doc, spec, "tolerations", yyjson_mut_arr(doc));
        yyjson_mut_val *toleration = yyjson_mut_arr_add_obj(doc, member_get(spec, "tolerations"));
        yyjson_mut_obj_add_str(doc, toleration, "key", taints[i]);
        yyjson_mut_obj_add_str(doc, toleration, "operator", "Exists");
        yyjson_mut_obj_add_str(doc, toleration, "effect", "NoExecute");
        yyjson_mut_obj_add_int(doc, toleration, "tolerationSeconds", 300);
    }
}

static void default_status(struct defaulting *defaulting, yyjson_mut_val *pod)
{
    yyjson_mut_val *status = member_object(defaulting->doc, pod, "status");

    member_set_text(defaulting->doc, status, "phase", "Pending");
    member_set_text(defaulting->doc, status, "qosClass", pod_qos_class(member_get(pod, "spec")));
}

void default_pod(struct defaulting *defaulting, yyjson_mut_val *pod)
{
    yyjson_mut_doc *doc = defaulting->doc;
    yyjson_mut_val *spec = member_get(pod, "spec");

    for (size_t i = 0; i < ARRAY_LEN(container_lists); i++)
        MEMBER_ITEMS (container, member_get(spec, container_lists[i])) {
            default_requests(defaulting, container);
            if (member_is_true(spec, "hostNetwork"))
                default_host_ports(defaulting, container);
        }
    if (member_number(spec, "terminationGracePeriodSeconds", 0) < 0)
        member_set(doc, spec, "terminationGracePeriodSeconds", yyjson_mut_int(doc, 1));
}

/* A client that sends its pod again leaves out what the server has filled in. */
static void keep_filled(struct defaulting *defaulting, yyjson_mut_val *spec)
{
    static const char *const members[] = {"priority", "preemptionPolicy", "serviceAccountName", "serviceAccount"};
    yyjson_mut_val *before = member_get(yyjson_mut_doc_get_root(defaulting->old), "spec");

    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        if (member_get(before, members[i]))
            member_default(defaulting->doc, spec, members[i],
                           yyjson_mut_val_mut_copy(defaulting->doc, member_get(before, members[i])));
}

void prepare_pod(struct defaulting *defaulting, yyjson_mut_val *pod)
{
    yyjson_mut_doc *doc = defaulting->doc;
    yyjson_mut_val *spec = member_get(pod, "spec");

    if (!spec)
        return;
    default_tolerations(defaulting, spec);
    if (defaulting->old) {
        keep_filled(defaulting, spec);
        return;
    }
    if (!member_get(spec, "priorityClassName")) {
        member_default(doc, spec, "priority", yyjson_mut_int(doc, 0));
        member_default(doc, spec, "preemptionPolicy", yyjson_mut_str(doc, "PreemptLowerPriority"));
    }
    member_default(doc, spec, "serviceAccountName", yyjson_mut_str(doc, "default"));
    member_set_text(doc, spec, "serviceAccount", member_text(spec, "serviceAccountName"));
    default_status(defaulting, pod);
}

/* --- The class of service --- */

static quantity_nano amount_of(yyjson_mut_val *resources, const char *list, const char *name)
{
    struct quantity quantity = {0};
    yyjson_mut_val *amount = yyjson_mut_obj_get(member_get(resources, list), name);

    if (!yyjson_mut_is_str(amount) || quantity_parse_exact(yyjson_mut_get_str(amount), &quantity, NULL) < 0)
        return 0;
    return quantity.nano;
}

const char *pod_qos_class(yyjson_mut_val *spec)
{
    static const char *const names[] = {"cpu", "memory"};
    bool has_any = false;
    bool has_all = true;

    for (size_t i = 0; i < ARRAY_LEN(container_lists); i++)
        MEMBER_ITEMS (container, member_get(spec, container_lists[i]))
            for (size_t j = 0; j < ARRAY_LEN(names); j++) {
                yyjson_mut_val *resources = member_get(container, "resources");
                quantity_nano request = amount_of(resources, "requests", names[j]);
                quantity_nano limit = amount_of(resources, "limits", names[j]);
                has_any = has_any || request > 0 || limit > 0;
                has_all = has_all && limit > 0 && request == limit;
            }
    if (!has_any)
        return "BestEffort";
    return has_all ? "Guaranteed" : "Burstable";
}
