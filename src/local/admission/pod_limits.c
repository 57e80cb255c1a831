/* SPDX-License-Identifier: Apache-2.0 */
#include "local/admission/pod_limits.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "local/rights/users.h"
#include "objects/keys.h"

enum { FIELD_MAX = 256 };

static void __attribute__((format(printf, 4, 5))) add(const struct pod_limits *limits, struct strbuf *problems,
                                                      const char *field, const char *format, ...)
{
    va_list args;
    char text[FIELD_MAX * 2];

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    strbuf_addf(problems, "%s%s%s: %s", problems->len ? "; " : "", limits->prefix, field, text);
}

static bool is_true(yyjson_mut_val *object, const char *member)
{
    return yyjson_mut_get_bool(yyjson_mut_obj_get(object, member));
}

/* --- Users and groups --- */

static void check_number(const struct pod_limits *limits, yyjson_mut_val *value, const char *field, bool is_group,
                         struct strbuf *problems)
{
    int64_t number = yyjson_mut_get_sint(value);

    if (!yyjson_mut_is_int(value) || (is_group ? user_is_in_group(limits->user, number) : number == limits->user->uid))
        return;
    if (is_group)
        add(limits, problems, field, "you are not in group %lld; leave the field out or use a group of yours",
            (long long)number);
    else
        add(limits, problems, field, "your pods run as you, uid %u; leave the field out", limits->user->uid);
}

static void check_user(const struct pod_limits *limits, yyjson_mut_val *context, const char *field,
                       struct strbuf *problems)
{
    char full[FIELD_MAX];

    (void)snprintf(full, sizeof full, "%s.runAsUser", field);
    check_number(limits, yyjson_mut_obj_get(context, "runAsUser"), full, false, problems);
    (void)snprintf(full, sizeof full, "%s.runAsGroup", field);
    check_number(limits, yyjson_mut_obj_get(context, "runAsGroup"), full, true, problems);
}

static void check_pod_context(const struct pod_limits *limits, yyjson_mut_val *context, struct strbuf *problems)
{
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(yyjson_mut_obj_get(context, "supplementalGroups"));

    check_user(limits, context, "spec.securityContext", problems);
    check_number(limits, yyjson_mut_obj_get(context, "fsGroup"), "spec.securityContext.fsGroup", true, problems);
    for (yyjson_mut_val *group; (group = yyjson_mut_arr_iter_next(&iter));)
        check_number(limits, group, "spec.securityContext.supplementalGroups", true, problems);
    if (yyjson_mut_arr_size(yyjson_mut_obj_get(context, "sysctls")) > 0)
        add(limits, problems, "spec.securityContext.sysctls", "only administrators may set kernel parameters");
}

/* --- Containers --- */

static void check_container(const struct pod_limits *limits, yyjson_mut_val *container, const char *list, size_t index,
                            struct strbuf *problems)
{
    yyjson_mut_val *context = yyjson_mut_obj_get(container, "securityContext");
    const char *mount = yyjson_mut_get_str(yyjson_mut_obj_get(context, "procMount"));
    yyjson_mut_val *added = yyjson_mut_obj_get(yyjson_mut_obj_get(context, "capabilities"), "add");
    char field[FIELD_MAX];
    char full[FIELD_MAX + 32];

    (void)snprintf(field, sizeof field, "spec.%s[%zu].securityContext", list, index);
    check_user(limits, context, field, problems);
    (void)snprintf(full, sizeof full, "%s.privileged", field);
    if (is_true(context, "privileged"))
        add(limits, problems, full, "only administrators may run privileged containers");
    (void)snprintf(full, sizeof full, "%s.capabilities.add", field);
    if (yyjson_mut_arr_size(added) > 0)
        add(limits, problems, full, "only administrators may add capabilities");
    (void)snprintf(full, sizeof full, "%s.procMount", field);
    if (mount && strcmp(mount, "Default") != 0)
        add(limits, problems, full, "only administrators may choose how /proc is mounted");
}

static void check_containers(const struct pod_limits *limits, yyjson_mut_val *spec, struct strbuf *problems)
{
    static const char *const lists[] = {"initContainers", "containers", "ephemeralContainers"};

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(yyjson_mut_obj_get(spec, lists[i]));
        size_t index = 0;

        for (yyjson_mut_val *item; (item = yyjson_mut_arr_iter_next(&iter));)
            check_container(limits, item, lists[i], index++, problems);
    }
}

/* --- Folders of the machine --- */

/* Absolute, and without parts that lead elsewhere. */
static bool is_plain(const char *path)
{
    if (*path != '/')
        return false;
    while (*path) {
        size_t len = strcspn(++path, "/");

        if ((len == 1 && path[0] == '.') || (len == 2 && path[0] == '.' && path[1] == '.'))
            return false;
        path += len;
    }
    return true;
}

static bool is_below(const char *path, const char *folder, size_t len)
{
    while (len > 0 && folder[len - 1] == '/')
        len--;
    return len > 0 && folder[0] == '/' && strncmp(path, folder, len) == 0 && (path[len] == '/' || !path[len]);
}

static bool may_mount(const struct pod_limits *limits, const char *path)
{
    if (!is_plain(path))
        return false;
    if (is_below(path, limits->user->home, strlen(limits->user->home)))
        return true;
    for (const char *at = limits->folders; *at;) {
        size_t len = strcspn(at, ",");

        if (is_below(path, at, len))
            return true;
        at += len + (at[len] == ',');
    }
    return false;
}

static void check_volumes(const struct pod_limits *limits, yyjson_mut_val *volumes, struct strbuf *problems)
{
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(volumes);
    char field[FIELD_MAX];
    size_t index = 0;

    for (yyjson_mut_val *volume; (volume = yyjson_mut_arr_iter_next(&iter)); index++) {
        yyjson_mut_val *host = yyjson_mut_obj_get(volume, "hostPath");
        const char *path = yyjson_mut_get_str(yyjson_mut_obj_get(host, "path"));

        (void)snprintf(field, sizeof field, "spec.volumes[%zu].hostPath.path", index);
        if (host && !may_mount(limits, path ? path : ""))
            add(limits, problems, field, "choose a folder below %.100s%s%.100s",
                *limits->user->home ? limits->user->home : "your home", *limits->folders ? " or below one of " : "",
                limits->folders);
    }
}

void pod_limits_check(const struct pod_limits *limits, yyjson_mut_val *pod, struct strbuf *problems)
{
    yyjson_mut_val *spec = yyjson_mut_obj_get(pod, "spec");

    if (is_true(spec, "hostPID"))
        add(limits, problems, "spec.hostPID", "only administrators may see the processes of others");
    if (is_true(spec, "hostIPC"))
        add(limits, problems, "spec.hostIPC", "only administrators may share the memory of others");
    if (yyjson_mut_get_len(yyjson_mut_obj_get(spec, "nodeName")) > 0)
        add(limits, problems, "spec.nodeName", "the scheduler chooses the node; use spec.nodeSelector");
    check_pod_context(limits, yyjson_mut_obj_get(spec, "securityContext"), problems);
    check_containers(limits, spec, problems);
    check_volumes(limits, yyjson_mut_obj_get(spec, "volumes"), problems);
}

/* --- Labels and annotations --- */

/* Those of services. A name that ends with a slash stands for all that begin with it. */
static const char *const own_labels[] = {KEY_GPU_GROUP, KEY_GPU_GROUP_PREFIX};
static const char *const own_annotations[] = {"cdi.k8s.io/", "received-resource-type", KEY_RESERVED_GPU,
                                              KEY_NUMA_PREDICTED, KEY_NUMA_OBSERVED};

/* Values of the label "app" that stand for pods whose GPUs are charged to nobody. */
static const char *const own_apps[] = {KEY_APP_RESERVATION, KEY_APP_SCALING};

static bool is_own(const char *const *list, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(list[i]);

        if (list[i][len - 1] == '/' ? strncmp(key, list[i], len) == 0 : strcmp(key, list[i]) == 0)
            return true;
    }
    return false;
}

/* Keys that are there in `a` and are another or missing in `b`. */
static void check_differences(const struct pod_limits *limits, const char *which, yyjson_mut_val *a, yyjson_mut_val *b,
                              const char *const *list, size_t count, bool is_removed, struct strbuf *problems)
{
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(a);
    char field[FIELD_MAX];

    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        yyjson_mut_val *value = yyjson_mut_obj_iter_get_val(key);
        yyjson_mut_val *other = yyjson_mut_obj_get(b, yyjson_mut_get_str(key));
        bool differs = !other || (!is_removed && !yyjson_mut_equals(value, other));

        if (!differs || !is_own(list, count, yyjson_mut_get_str(key)))
            continue;
        (void)snprintf(field, sizeof field, "metadata.%s[\"%.150s\"]", which, yyjson_mut_get_str(key));
        add(limits, problems, field, "is written by Muster alone; do not change it, and leave it out of new objects");
    }
}

static void check_app(const struct pod_limits *limits, yyjson_mut_val *labels, yyjson_mut_val *before,
                      struct strbuf *problems)
{
    yyjson_mut_val *app = yyjson_mut_obj_get(labels, KEY_APP);
    yyjson_mut_val *old = yyjson_mut_obj_get(before, KEY_APP);
    const char *value = yyjson_mut_get_str(app);

    if (value && is_own(own_apps, ARRAY_LEN(own_apps), value) && !(old && yyjson_mut_equals(app, old)))
        add(limits, problems, "metadata.labels[\"app\"]",
            "\"%.60s\" stands for pods whose GPUs are charged to nobody; give the label another value", value);
}

void pod_limits_check_keys(const struct pod_limits *limits, yyjson_mut_val *meta, yyjson_mut_val *before,
                           struct strbuf *problems)
{
    static const struct {
        const char *name;
        const char *const *keys;
        size_t count;
    } kinds[] = {{"labels", own_labels, ARRAY_LEN(own_labels)},
                 {"annotations", own_annotations, ARRAY_LEN(own_annotations)}};

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        yyjson_mut_val *now = yyjson_mut_obj_get(meta, kinds[i].name);
        yyjson_mut_val *old = yyjson_mut_obj_get(before, kinds[i].name);

        check_differences(limits, kinds[i].name, now, old, kinds[i].keys, kinds[i].count, false, problems);
        check_differences(limits, kinds[i].name, old, now, kinds[i].keys, kinds[i].count, true, problems);
    }
    check_app(limits, yyjson_mut_obj_get(meta, "labels"), yyjson_mut_obj_get(before, "labels"), problems);
}
