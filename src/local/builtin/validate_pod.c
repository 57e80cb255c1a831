/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "local/builtin/members.h"
#include "local/builtin/validate_internal.h"

/* --- Lists whose elements have names --- */

/* `seen` may go on from another list. */
static void check_unique(struct validating *validating, struct strmap *seen, yyjson_mut_val *list,
                         const struct field *field, bool names_member)
{
    size_t index = 0;

    MEMBER_ITEMS (item, list) {
        const struct field at = field_item(field, index++);
        yyjson_mut_val *name = member_get(item, "name");
        if (!yyjson_mut_is_str(name) || yyjson_mut_get_len(name) == 0)
            continue;
        if (strmap_put(seen, "", yyjson_mut_get_str(name), name))
            problem_duplicate(validating->problems, names_member ? FIELD(&at, "name") : &at, name);
    }
}

static void check_container_names(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    struct strmap seen = {0};

    check_unique(validating, &seen, member_get(spec, "containers"), FIELD(field, "containers"), true);
    check_unique(validating, &seen, member_get(spec, "initContainers"), FIELD(field, "initContainers"), true);
    strmap_done(&seen);
}

void check_names(struct validating *validating, yyjson_mut_val *list, const struct field *field, bool names_member)
{
    struct strmap seen = {0};

    check_unique(validating, &seen, list, field, names_member);
    strmap_done(&seen);
}

/* The elements by their names. */
static struct strmap names_of(yyjson_mut_val *list)
{
    struct strmap names = {0};

    MEMBER_ITEMS (item, list)
        (void)strmap_put(&names, "", member_text(item, "name"), item);
    return names;
}

/* --- Volumes --- */

static void check_back_steps(struct validating *validating, const struct field *field, const char *path)
{
    for (const char *at = path; *at; at += strspn(at, "/")) {
        size_t len = strcspn(at, "/");
        if (len == 2 && strncmp(at, "..", 2) == 0) {
            problem_invalid_text(validating->problems, field, path, "must not contain '..'");
            return;
        }
        at += len;
    }
}

static void check_host_path(struct validating *validating, yyjson_mut_val *source, const struct field *field)
{
    static const char types[] = " BlockDevice CharDevice Directory DirectoryOrCreate File FileOrCreate Socket ";
    const char *path = member_text(source, "path");
    const char *type = member_text(source, "type");
    struct strbuf word;

    if (!*path)
        problem_required(validating->problems, FIELD(field, "path"), "");
    check_back_steps(validating, FIELD(field, "path"), path);
    strbuf_init(&word, PROBLEM_BYTES_MAX);
    strbuf_addf(&word, " %s ", type);
    if (*type && !strstr(types, word.text)) {
        strbuf_clear(&word);
        strbuf_addf(
            &word,
            "Unsupported value: \"%s\": supported values: \"\", \"BlockDevice\", \"CharDevice\", \"Directory\", "
            "\"DirectoryOrCreate\", \"File\", \"FileOrCreate\", \"Socket\"",
            type);
        problem_add(validating->problems, PROBLEM_NOT_SUPPORTED, FIELD(field, "type"), word.text);
    }
    strbuf_done(&word);
}

void check_volume(struct validating *validating, yyjson_mut_val *volume, const struct field *field)
{
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(volume);
    size_t sources = 0;

    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        const char *name = yyjson_mut_get_str(key);
        sources += strcmp(name, "name") != 0;
        if (sources > 1 && strcmp(name, "name") != 0)
            problem_forbidden(validating->problems, FIELD(field, name), "may not specify more than 1 volume type");
    }
    yyjson_mut_val *host = member_get(volume, "hostPath");
    if (host && sources == 1)
        check_host_path(validating, host, FIELD(field, "hostPath"));
}

static void check_mounts(struct validating *validating, const struct strmap *volumes, yyjson_mut_val *mounts,
                         const struct field *container)
{
    const struct field field = field_member(container, "volumeMounts");
    struct strmap paths = {0};
    size_t index = 0;

    MEMBER_ITEMS (mount, mounts) {
        const struct field at = field_item(&field, index++);
        const char *name = member_text(mount, "name");
        const char *path = member_text(mount, "mountPath");
        if (!*name)
            problem_required(validating->problems, FIELD(&at, "name"), "");
        else if (!strmap_get(volumes, "", name))
            problem_not_found(validating->problems, FIELD(&at, "name"), member_get(mount, "name"));
        if (!*path)
            problem_required(validating->problems, FIELD(&at, "mountPath"), "");
        else if (strmap_put(&paths, "", path, mount))
            problem_invalid_text(validating->problems, FIELD(&at, "mountPath"), path, "must be unique");
        check_back_steps(validating, FIELD(&field, "subPath"), member_text(mount, "subPath"));
    }
    strmap_done(&paths);
}

/* --- Containers --- */

static const char *const field_labels[] = {
    "metadata.name",           "metadata.namespace", "metadata.uid",  "metadata.labels", "metadata.annotations",
    "spec.nodeName",           "status.podIP",       "status.podIPs", "status.hostIP",   "status.hostIPs",
    "spec.serviceAccountName",
};

static bool is_field_label(const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(field_labels); i++)
        if (strcmp(path, field_labels[i]) == 0)
            return true;
    return strncmp(path, "metadata.labels['", 17) == 0 || strncmp(path, "metadata.annotations['", 22) == 0;
}

static void check_env_source(struct validating *validating, yyjson_mut_val *source, const struct field *field)
{
    static const char *const references[] = {"configMapKeyRef", "secretKeyRef"};
    const char *path = member_text(source, "fieldRef.fieldPath");

    if (yyjson_mut_obj_size(source) == 0)
        problem_invalid_text(
            validating->problems, field, "",
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or "
            "`fileKeyRef`");
    for (size_t i = 0; i < ARRAY_LEN(references); i++)
        if (member_get(source, references[i]))
            check_subdomain(validating->problems, FIELD(FIELD(field, references[i]), "name"),
                            member_text(member_get(source, references[i]), "name"));
    if (member_get(source, "fieldRef") && !*path) {
        problem_required(validating->problems, FIELD(FIELD(field, "fieldRef"), "fieldPath"), "");
    } else if (member_get(source, "fieldRef") && !is_field_label(path)) {
        struct strbuf words;
        strbuf_init(&words, PROBLEM_BYTES_MAX);
        strbuf_addf(&words, "error converting fieldPath: field label not supported: %s", path);
        problem_invalid_text(validating->problems, FIELD(FIELD(field, "fieldRef"), "fieldPath"), path, words.text);
        strbuf_done(&words);
    }
}

void check_env(struct validating *validating, yyjson_mut_val *env, const struct field *field)
{
    const char *name = member_text(env, "name");
    yyjson_mut_val *source = member_get(env, "valueFrom");
    bool is_printable = true;

    for (const char *at = name; *at; at++)
        is_printable = is_printable && *at != '=' && isprint((unsigned char)*at);
    if (!*name)
        problem_required(validating->problems, FIELD(field, "name"), "");
    else if (!is_printable)
        problem_invalid_text(validating->problems, FIELD(field, "name"), name,
                             "a valid environment variable name must consist only of printable ASCII characters other "
                             "than '='");
    if (source && *member_text(env, "value"))
        problem_invalid_text(validating->problems, FIELD(field, "valueFrom"), "",
                             "may not be specified when `value` is not empty");
    else if (source)
        check_env_source(validating, source, FIELD(field, "valueFrom"));
}

void check_probe(struct validating *validating, yyjson_mut_val *probe, const struct field *field)
{
    static const char *const handlers[] = {"exec", "httpGet", "tcpSocket", "grpc"};
    bool is_readiness = strcmp(field->name, "readinessProbe") == 0;
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_LEN(handlers); i++)
        if (member_get(probe, handlers[i]) && count++ > 0)
            problem_forbidden(validating->problems, FIELD(field, handlers[i]),
                              "may not specify more than 1 handler type");
    if (count == 0)
        problem_required(validating->problems, field, "must specify a handler type");
    if (!is_readiness && member_number(probe, "successThreshold", 1) != 1)
        problem_invalid_number(validating->problems, FIELD(field, "successThreshold"),
                               member_number(probe, "successThreshold", 1), "must be 1");
}

static void check_handler(struct validating *validating, yyjson_mut_val *container, const struct field *field,
                          const char *when)
{
    const struct field lifecycle = field_member(field, "lifecycle");
    yyjson_mut_val *handler = member_get(member_get(container, "lifecycle"), when);

    if (handler && yyjson_mut_obj_size(handler) == 0)
        problem_required(validating->problems, FIELD(&lifecycle, when), "must specify a handler type");
}

void check_container(struct validating *validating, yyjson_mut_val *container, const struct field *field)
{
    const char *image = member_text(container, "image");
    size_t len = strlen(image);

    if (len && (isspace((unsigned char)image[0]) || isspace((unsigned char)image[len - 1])))
        problem_invalid_text(validating->problems, FIELD(field, "image"), image,
                             "must not have leading or trailing whitespace");
    check_handler(validating, container, field, "postStart");
    check_handler(validating, container, field, "preStop");
    check_names(validating, member_get(container, "ports"), FIELD(field, "ports"), true);
    check_container_resources(validating, member_get(container, "resources"), FIELD(field, "resources"));
}

/* --- Placement --- */

void check_toleration(struct validating *validating, yyjson_mut_val *toleration, const struct field *field)
{
    const char *key = member_text(toleration, "key");
    const char *op = member_text(toleration, "operator");
    const char *effect = member_text(toleration, "effect");

    if (*key)
        check_label_key(validating->problems, FIELD(field, "key"), key);
    if (!*key && strcmp(op, "Exists") != 0)
        problem_invalid_text(validating->problems, FIELD(field, "operator"), op,
                             "operator must be Exists when `key` is empty, which means \"match all values and all "
                             "keys\"");
    if (member_get(toleration, "tolerationSeconds") && strcmp(effect, "NoExecute") != 0)
        problem_invalid_text(validating->problems, FIELD(field, "effect"), effect,
                             "effect must be 'NoExecute' when `tolerationSeconds` is set");
    if (strcmp(op, "Exists") == 0 && *member_text(toleration, "value"))
        problem_invalid_text(validating->problems, FIELD(field, "operator"), member_text(toleration, "value"),
                             "value must be empty when `operator` is 'Exists'");
    else if (*op && strcmp(op, "Exists") != 0 && strcmp(op, "Equal") != 0)
        problem_not_supported(validating->problems, FIELD(field, "operator"), member_get(toleration, "operator"),
                              "Equal Exists");
    if (*effect && strcmp(effect, "NoSchedule") != 0 && strcmp(effect, "PreferNoSchedule") != 0 &&
        strcmp(effect, "NoExecute") != 0)
        problem_not_supported(validating->problems, FIELD(field, "effect"), member_get(toleration, "effect"),
                              "NoSchedule PreferNoSchedule NoExecute");
}

void check_requirement(struct validating *validating, yyjson_mut_val *requirement, const struct field *field)
{
    const char *op = member_text(requirement, "operator");
    size_t values = yyjson_mut_arr_size(member_get(requirement, "values"));
    bool is_compared = strcmp(op, "Gt") == 0 || strcmp(op, "Lt") == 0;

    if (strcmp(op, "In") == 0 || strcmp(op, "NotIn") == 0) {
        if (values == 0)
            problem_required(validating->problems, FIELD(field, "values"),
                             "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (strcmp(op, "Exists") == 0 || strcmp(op, "DoesNotExist") == 0) {
        if (values > 0)
            problem_forbidden(validating->problems, FIELD(field, "values"),
                              "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    } else if (is_compared && values != 1) {
        problem_required(validating->problems, FIELD(field, "values"),
                         "must be specified single value when `operator` is 'Lt' or 'Gt'");
    } else if (!is_compared) {
        problem_invalid_text(validating->problems, FIELD(field, "operator"), op, "not a valid selector operator");
    }
    check_label_key(validating->problems, FIELD(field, "key"), member_text(requirement, "key"));
}

/* --- The whole --- */

static void check_os(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    const char *name = member_text(spec, "os.name");

    if (member_get(spec, "os") && strcmp(name, "linux") != 0 && strcmp(name, "windows") != 0)
        problem_not_supported(validating->problems, FIELD(field, "os"), member_get(spec, "os.name"), "linux windows");
}

static void check_claims(struct validating *validating, yyjson_mut_val *claims, const struct field *field)
{
    size_t index = 0;

    MEMBER_ITEMS (claim, claims) {
        const struct field at = field_item(field, index++);
        struct strbuf words;
        if (member_get(claim, "resourceClaimName") || member_get(claim, "resourceClaimTemplateName"))
            continue;
        strbuf_init(&words, PROBLEM_BYTES_MAX);
        strbuf_addf(&words,
                    "Invalid value: {\"Name\":\"%s\",\"ResourceClaimName\":null,\"ResourceClaimTemplateName\":null}: "
                    "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
                    member_text(claim, "name"));
        problem_add(validating->problems, PROBLEM_INVALID, &at, words.text);
        strbuf_done(&words);
    }
}

/* A container may use the claims of its pod. */
static void check_used_claims(struct validating *validating, yyjson_mut_val *claims, const struct strmap *names,
                              yyjson_mut_val *container, const struct field *field)
{
    const struct field used = field_member(FIELD(field, "resources"), "claims");
    size_t index = 0;

    MEMBER_ITEMS (claim, member_get(container, "resources.claims")) {
        const struct field at = field_item(&used, index++);
        const char *gap = ": ";
        struct strbuf words;
        if (strmap_get(names, "", member_text(claim, "name")))
            continue;
        strbuf_init(&words, PROBLEM_BYTES_MAX);
        strbuf_addf(&words, "Not found: \"%s\": must be one of the names in pod.spec.resourceClaims%s",
                    member_text(claim, "name"), yyjson_mut_arr_size(claims) ? "" : " which is empty");
        MEMBER_ITEMS (known, claims) {
            strbuf_addf(&words, "%s%s", gap, member_text(known, "name"));
            gap = ", ";
        }
        problem_add(validating->problems, PROBLEM_NOT_FOUND, &at, words.text);
        strbuf_done(&words);
    }
}

void check_template(struct validating *validating, yyjson_mut_val *template, const struct field *field)
{
    check_labels(validating->problems, FIELD(field, "labels"), member_get(template, "metadata.labels"));
}

/* Containers use volumes and claims that the pod has. */
static void check_uses(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    static const char *const lists[] = {"containers", "initContainers"};
    struct strmap volumes = names_of(member_get(spec, "volumes"));
    struct strmap claims = names_of(member_get(spec, "resourceClaims"));

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        const struct field list = field_member(field, lists[i]);
        size_t index = 0;
        MEMBER_ITEMS (container, member_get(spec, lists[i])) {
            const struct field at = field_item(&list, index++);
            check_mounts(validating, &volumes, member_get(container, "volumeMounts"), &at);
            check_used_claims(validating, member_get(spec, "resourceClaims"), &claims, container, &at);
        }
    }
    strmap_done(&volumes);
    strmap_done(&claims);
}

/* Those that end before the others begin are not watched while they run. */
static void check_init_containers(struct validating *validating, yyjson_mut_val *list, const struct field *field)
{
    static const char *const members[] = {"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"};
    size_t index = 0;

    MEMBER_ITEMS (container, list) {
        const struct field at = field_item(field, index++);
        for (size_t i = 0; i < ARRAY_LEN(members) && !member_is(container, "restartPolicy", "Always"); i++)
            if (member_get(container, members[i]))
                problem_forbidden(validating->problems, FIELD(&at, members[i]),
                                  "may not be set for init containers without restartPolicy=Always");
    }
}

void check_pod_spec(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    check_container_names(validating, spec, field);
    check_names(validating, member_get(spec, "volumes"), FIELD(field, "volumes"), true);
    check_names(validating, member_get(spec, "schedulingGates"), FIELD(field, "schedulingGates"), false);
    check_uses(validating, spec, field);
    check_init_containers(validating, member_get(spec, "initContainers"), FIELD(field, "initContainers"));
    check_os(validating, spec, field);
    check_claims(validating, member_get(spec, "resourceClaims"), FIELD(field, "resourceClaims"));
}
