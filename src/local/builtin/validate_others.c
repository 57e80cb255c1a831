/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "local/api/kinds.h"
#include "local/builtin/members.h"
#include "local/builtin/validate_internal.h"

/* --- ConfigMaps and Secrets --- */

enum { DATA_BYTES_MAX = 1 << 20 };

/* Checks the keys and returns the bytes of keys and values. Base64 holds three bytes in four. */
static size_t check_data(struct validating *validating, yyjson_mut_val *data, const struct field *field, bool is_base64)
{
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(data);
    size_t size = 0;

    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        const struct field at = field_key(field, yyjson_mut_get_str(key));
        size_t len = yyjson_mut_get_len(yyjson_mut_obj_iter_get_val(key));
        check_config_key(validating->problems, &at, yyjson_mut_get_str(key));
        size += is_base64 ? len / 4 * 3 : len;
    }
    return size;
}

void check_config_map(struct validating *validating, yyjson_mut_val *map, const struct field *field)
{
    const struct field data = field_member(field, "data");
    const struct field binary = field_member(field, "binaryData");
    yyjson_mut_val *second = member_get(map, "binaryData");
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(member_get(map, "data"));

    size_t size = check_data(validating, member_get(map, "data"), &data, false);
    for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
        const char *name = yyjson_mut_get_str(key);
        const struct field at = field_key(&data, name);
        if (yyjson_mut_obj_get(second, name))
            problem_invalid_text(validating->problems, &at, name, "duplicate of key present in binaryData");
    }
    size += check_data(validating, second, &binary, true);
    if (size > DATA_BYTES_MAX)
        problem_too_long(validating->problems, NULL, DATA_BYTES_MAX);
}

void check_secret(struct validating *validating, yyjson_mut_val *secret, const struct field *field)
{
    static const struct {
        const char *type;
        const char *keys[2];
        bool is_one_enough;
    } required[] = {
        {"kubernetes.io/tls", {"tls.crt", "tls.key"}, false},
        {"kubernetes.io/dockercfg", {".dockercfg", NULL}, false},
        {"kubernetes.io/dockerconfigjson", {".dockerconfigjson", NULL}, false},
        {"kubernetes.io/basic-auth", {"username", "password"}, true},
        {"kubernetes.io/ssh-auth", {"ssh-privatekey", NULL}, false},
    };
    const struct field data_field = field_member(field, "data");
    yyjson_mut_val *data = member_get(secret, "data");

    if (check_data(validating, data, &data_field, true) > DATA_BYTES_MAX)
        problem_too_long(validating->problems, &data_field, DATA_BYTES_MAX);
    for (size_t i = 0; i < ARRAY_LEN(required); i++) {
        const char *const *keys = required[i].keys;
        bool has_second = keys[1] && yyjson_mut_obj_get(data, keys[1]);
        bool has_one = yyjson_mut_obj_get(data, keys[0]) || has_second;
        if (!member_is(secret, "type", required[i].type) || (required[i].is_one_enough && has_one))
            continue;
        for (size_t j = 0; j < ARRAY_LEN(required[i].keys) && keys[j]; j++) {
            const struct field at = field_key(&data_field, keys[j]);
            if (!yyjson_mut_obj_get(data, keys[j]))
                problem_required(validating->problems, &at, "");
        }
    }
}

/* --- Volumes --- */

static void check_access_modes(struct validating *validating, yyjson_mut_val *modes, const struct field *field)
{
    static const char known[] = "ReadOnlyMany ReadWriteMany ReadWriteOnce ReadWriteOncePod";

    MEMBER_ITEMS (mode, modes)
        if (!kind_list_has(known, yyjson_mut_get_str(mode)))
            problem_not_supported(validating->problems, field, mode, known);
}

void check_claim(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    const struct field modes = field_member(field, "accessModes");
    const struct field resources = field_member(field, "resources");
    const struct field storage = field_key(&resources, "storage");
    yyjson_mut_val *amount = member_get(spec, "resources.requests.storage");

    if (!member_get(spec, "accessModes"))
        problem_required(validating->problems, &modes, "at least 1 access mode is required");
    check_access_modes(validating, member_get(spec, "accessModes"), &modes);
    if (!amount)
        problem_required(validating->problems, &storage, "");
    else if (yyjson_mut_equals_str(amount, "0") || *yyjson_mut_get_str(amount) == '-')
        problem_invalid(validating->problems, &storage, amount, "must be greater than zero");
}

void check_persistent_volume(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    static const char *const kinds[] = {"hostPath",
                                        "gcePersistentDisk",
                                        "awsElasticBlockStore",
                                        "glusterfs",
                                        "flocker",
                                        "nfs",
                                        "rbd",
                                        "quobyte",
                                        "cephfs",
                                        "iscsi",
                                        "cinder",
                                        "fc",
                                        "flexVolume",
                                        "azureFile",
                                        "vsphereVolume",
                                        "portworxVolume",
                                        "azureDisk",
                                        "scaleIO",
                                        "local",
                                        "storageos",
                                        "csi",
                                        "photonPersistentDisk"};
    yyjson_mut_val *capacity = member_get(spec, "capacity");
    size_t sources = 0;

    check_access_modes(validating, member_get(spec, "accessModes"), FIELD(field, "accessModes"));
    if (yyjson_mut_obj_size(capacity) == 0)
        problem_required(validating->problems, FIELD(field, "capacity"), "");
    if (yyjson_mut_obj_size(capacity) != 1 || !member_get(capacity, "storage"))
        problem_not_supported(validating->problems, FIELD(field, "capacity"),
                              capacity ? sorted_map(validating->doc, capacity) : yyjson_mut_null(validating->doc),
                              "storage");
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (member_get(spec, kinds[i]) && sources++ > 0)
            problem_forbidden(validating->problems, FIELD(field, kinds[i]), "may not specify more than 1 volume type");
    if (sources == 0)
        problem_required(validating->problems, field, "must specify a volume type");
}

/* --- RBAC --- */

void check_rule(struct validating *validating, yyjson_mut_val *rule, const struct field *field)
{
    yyjson_mut_val *urls = member_get(rule, "nonResourceURLs");
    bool is_namespaced = validating->kind->flags & KIND_NAMESPACED;

    if (!member_get(rule, "verbs"))
        problem_required(validating->problems, FIELD(field, "verbs"), "verbs must contain at least one value");
    if (urls) {
        if (is_namespaced)
            problem_invalid(validating->problems, FIELD(field, "nonResourceURLs"), urls,
                            "namespaced rules cannot apply to non-resource URLs");
        else if (member_get(rule, "apiGroups") || member_get(rule, "resources") || member_get(rule, "resourceNames"))
            problem_invalid(validating->problems, FIELD(field, "nonResourceURLs"), urls,
                            "rules cannot apply to both regular resources and non-resource URLs");
        return;
    }
    if (!member_get(rule, "apiGroups"))
        problem_required(validating->problems, FIELD(field, "apiGroups"),
                         "resource rules must supply at least one api group");
    if (!member_get(rule, "resources"))
        problem_required(validating->problems, FIELD(field, "resources"),
                         "resource rules must supply at least one resource");
}

void check_binding(struct validating *validating, yyjson_mut_val *binding, const struct field *field)
{
    const char *kinds = validating->kind->flags & KIND_NAMESPACED ? "Role ClusterRole" : "ClusterRole";
    const struct field role = field_member(field, "roleRef");
    const struct field subjects = field_member(field, "subjects");
    size_t index = 0;

    if (!*member_text(binding, "roleRef.kind") || !kind_list_has(kinds, member_text(binding, "roleRef.kind")))
        problem_not_supported(validating->problems, FIELD(&role, "kind"), member_get(binding, "roleRef.kind"), kinds);
    if (!*member_text(binding, "roleRef.name"))
        problem_required(validating->problems, FIELD(&role, "name"), "");
    MEMBER_ITEMS (subject, member_get(binding, "subjects")) {
        const struct field at = field_item(&subjects, index++);
        if (!*member_text(subject, "name"))
            problem_required(validating->problems, FIELD(&at, "name"), "");
        if (!kind_list_has("ServiceAccount User Group", member_text(subject, "kind")))
            problem_not_supported(validating->problems, FIELD(&at, "kind"), member_get(subject, "kind"),
                                  "ServiceAccount User Group");
        else if (member_is(subject, "kind", "ServiceAccount") && !(validating->kind->flags & KIND_NAMESPACED) &&
                 !*member_text(subject, "namespace"))
            problem_required(validating->problems, FIELD(&at, "namespace"), "");
    }
}

/* --- Single kinds --- */

static void show(struct strbuf *text, const char *name, yyjson_mut_val *value)
{
    strbuf_addf(text, "\"%s\":", name);
    if (value)
        problem_show_value(value, text);
    else
        strbuf_addstr(text, "null");
}

/* The specification is shown in the form that it has inside of the API server. */
void check_ingress(struct validating *validating, yyjson_mut_val *ingress, const struct field *field)
{
    yyjson_mut_val *spec = member_get(ingress, "spec");

    if (!member_get(spec, "defaultBackend") && !member_get(spec, "rules"))
        problem_invalid(validating->problems, FIELD(field, "spec"), yyjson_mut_null(validating->doc),
                        "either `defaultBackend` or `rules` must be specified");
}

void check_budget(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    struct strbuf words;

    if (!member_get(spec, "minAvailable") || !member_get(spec, "maxUnavailable"))
        return;
    strbuf_init(&words, PROBLEM_BYTES_MAX);
    strbuf_addstr(&words, "Invalid value: {");
    show(&words, "MinAvailable", member_get(spec, "minAvailable"));
    strbuf_addch(&words, ',');
    show(&words, "Selector", member_get(spec, "selector"));
    strbuf_addch(&words, ',');
    show(&words, "MaxUnavailable", member_get(spec, "maxUnavailable"));
    strbuf_addch(&words, ',');
    show(&words, "UnhealthyPodEvictionPolicy", member_get(spec, "unhealthyPodEvictionPolicy"));
    strbuf_addstr(&words, "}: minAvailable and maxUnavailable cannot be both set");
    problem_add(validating->problems, PROBLEM_INVALID, field, words.text);
    strbuf_done(&words);
}

void check_priority_class(struct validating *validating, yyjson_mut_val *class, const struct field *field)
{
    const struct field meta = field_member(field, "metadata");
    const char *name = member_text(class, "metadata.name");
    struct strbuf words;

    if (strncmp(name, "system-", 7) == 0) {
        strbuf_init(&words, PROBLEM_BYTES_MAX);
        strbuf_addf(&words,
                    "priority class names with 'system-' prefix are reserved for system use only. error: %s is not a "
                    "known system priority class",
                    name);
        problem_forbidden(validating->problems, FIELD(&meta, "name"), words.text);
        strbuf_done(&words);
    } else if (member_number(class, "value", 0) > 1000000000) {
        problem_forbidden(validating->problems, FIELD(field, "value"),
                          "maximum allowed value of a user defined priority is 1000000000");
    }
}

void check_device_claim(struct validating *validating, yyjson_mut_val *claim, const struct field *field)
{
    const struct field requests = field_member(field, "requests");
    yyjson_mut_val *list = member_get(claim, "requests");
    size_t index = 0;

    MEMBER_ITEMS (request, list) {
        const struct field at = field_item(&requests, index++);
        if ((member_get(request, "exactly") != NULL) == (member_get(request, "firstAvailable") != NULL))
            problem_required(validating->problems, &at, "exactly one of `exactly` or `firstAvailable` is required");
    }
    check_names(validating, list, &requests, false);
}

#define ONE_OF_PLACES "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"

void check_slice(struct validating *validating, yyjson_mut_val *spec, const struct field *field)
{
    static const char *const choices[] = {"nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection"};
    const struct field pool = field_member(field, "pool");
    int64_t slices = member_number(spec, "pool.resourceSliceCount", 0);
    size_t count = 0;

    if (!*member_text(spec, "pool.name"))
        problem_required(validating->problems, FIELD(&pool, "name"), "");
    if (slices <= 0)
        problem_invalid_number(validating->problems, FIELD(&pool, "resourceSliceCount"), slices,
                               "must be greater than zero");

    struct strbuf set;

    strbuf_init(&set, PROBLEM_BYTES_MAX);
    for (size_t i = 0; i < ARRAY_LEN(choices); i++)
        if (member_get(spec, choices[i]))
            strbuf_addf(&set, "%s`%s`", count++ ? ", " : "{", choices[i]);
    strbuf_addch(&set, '}');
    if (count == 0)
        problem_required(validating->problems, field, ONE_OF_PLACES);
    else if (count > 1)
        problem_invalid_text(validating->problems, field, set.text, ONE_OF_PLACES ", but multiple fields are set");
    strbuf_done(&set);
}
