/* SPDX-License-Identifier: Apache-2.0 */

/* The table of kinds, and what their specs have to hold together. */
#include "console/assets/kinds.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "console/rest/context.h"

enum { SECRET_KEY_MAX = 253 };

static bool has(yyjson_mut_val *object, const char *key)
{
    return object && yyjson_mut_obj_get(object, key);
}

static int require(yyjson_mut_val *spec, const char *const *keys, struct err *err)
{
    for (; *keys; keys++) {
        if (!has(spec, *keys))
            return err_set(err, -EINVAL, "spec.%s: it is required", *keys);
    }
    return 0;
}

#define REQUIRES(name, ...)                                                                                  \
    static int name(struct request *request, yyjson_mut_val *spec, yyjson_mut_val *secrets, struct err *err) \
    {                                                                                                        \
        (void)request;                                                                                       \
        (void)secrets;                                                                                       \
        return require(spec, (const char *const[]){__VA_ARGS__, NULL}, err);                                 \
    }

REQUIRES(check_nfs, "server", "path", "mountPath")
REQUIRES(check_git, "repository", "path")
REQUIRES(check_s3, "bucket", "path", "url")
REQUIRES(check_host_path, "path", "mountPath")
REQUIRES(check_config_map, "configMap", "mountPath")
REQUIRES(check_secret_volume, "credentialAssetId", "mountPath")
REQUIRES(check_environment, "image")

static double number_of(yyjson_mut_val *object, const char *key)
{
    return yyjson_mut_get_num(yyjson_mut_obj_get(object, key));
}

/* A limit below what is requested could never be kept. */
static int check_compute(struct request *request, yyjson_mut_val *spec, yyjson_mut_val *secrets, struct err *err)
{
    static const char *const pairs[][2] = {{"cpuCoreRequest", "cpuCoreLimit"},
                                           {"gpuPortionRequest", "gpuPortionLimit"}};

    (void)request;
    (void)secrets;
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        if (has(spec, pairs[i][0]) && has(spec, pairs[i][1]) &&
            number_of(spec, pairs[i][0]) > number_of(spec, pairs[i][1]))
            return err_set(err, -EINVAL, "spec.%s: must not be less than %s", pairs[i][1], pairs[i][0]);
    }
    if (number_of(spec, "gpuPortionRequest") > 1)
        return err_set(err, -EINVAL, "spec.gpuPortionRequest: expected a part of one GPU, from 0 to 1");
    return 0;
}

static int check_pvc(struct request *request, yyjson_mut_val *spec, yyjson_mut_val *secrets, struct err *err)
{
    bool is_existing = yyjson_mut_get_bool(yyjson_mut_obj_get(spec, "existingPvc"));
    static const char *const path[] = {"path", NULL};
    static const char *const existing[] = {"claimName", NULL};
    static const char *const fresh[] = {"claimInfo", NULL};
    int r = require(spec, path, err);

    (void)request;
    (void)secrets;
    if (r < 0)
        return r;
    if (yyjson_mut_get_bool(yyjson_mut_obj_get(spec, "dataSharing")))
        return err_set(err, -ENOSYS, "spec.dataSharing: sharing data between projects is not supported yet");
    if (yyjson_mut_arr_size(yyjson_mut_ptr_get(spec, "/claimInfo/addedAttrValues")) > 0)
        return err_set(err, -ENOSYS, "spec.claimInfo.addedAttrValues: attributes of claims are not supported yet");
    if (!is_existing && has(spec, "claimInfo") && !has(yyjson_mut_obj_get(spec, "claimInfo"), "size"))
        return err_set(err, -EINVAL, "spec.claimInfo.size: it is required");
    return require(spec, is_existing ? existing : fresh, err);
}

/* Either a Secret of the cluster, or all members. */
static int check_secret(yyjson_mut_val *spec, yyjson_mut_val *secrets, const char *const *open, const char *secret,
                        struct err *err)
{
    bool is_existing = has(spec, "existingSecretName");

    if (is_existing && has(secrets, secret))
        return err_set(err, -EINVAL, "spec: existingSecretName and %s cannot be used together", secret);
    if (is_existing)
        return 0;
    if (!has(secrets, secret))
        return err_set(err, -EINVAL, "spec.%s: it is required unless there is an existingSecretName", secret);
    return require(spec, open, err);
}

#define CREDENTIAL(name, secret, ...)                                                                        \
    static int name(struct request *request, yyjson_mut_val *spec, yyjson_mut_val *secrets, struct err *err) \
    {                                                                                                        \
        (void)request;                                                                                       \
        return check_secret(spec, secrets, (const char *const[]){__VA_ARGS__, NULL}, secret, err);           \
    }

CREDENTIAL(check_access_key, "secretAccessKey", "accessKeyId")
CREDENTIAL(check_password, "password", "user")
CREDENTIAL(check_docker_registry, "password", "user", "url")

/* As keys of a Secret; each of them once. */
static int check_keys(yyjson_mut_val *pairs, struct err *err)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    yyjson_mut_val *pair, *other;
    size_t index, max, before, last;

    yyjson_mut_arr_foreach(pairs, index, max, pair)
    {
        const char *key = yyjson_mut_get_str(yyjson_mut_obj_get(pair, "key"));

        if (strlen(key) > SECRET_KEY_MAX || key[strspn(key, allowed)])
            return err_set(
                err, -EINVAL,
                "spec.keyValuePairs: '%.50s' is not a key: expected up to %d letters, digits, '-', '_' and '.'", key,
                SECRET_KEY_MAX);
        yyjson_mut_arr_foreach(pairs, before, last, other)
        {
            if (before < index && yyjson_mut_equals_str(yyjson_mut_obj_get(other, "key"), key))
                return err_set(err, -EINVAL, "spec.keyValuePairs: the key '%.50s' is listed twice", key);
        }
    }
    return 0;
}

/* The keys are shown, the values are not. */
static int check_generic_secret(struct request *request, yyjson_mut_val *spec, yyjson_mut_val *secrets, struct err *err)
{
    static const char *const none[] = {NULL};
    yyjson_mut_val *pairs = yyjson_mut_obj_get(secrets, "keyValuePairs");
    yyjson_mut_val *pair;
    yyjson_mut_arr_iter iter;
    int r = check_secret(spec, secrets, none, "keyValuePairs", err);

    if (r < 0 || !pairs)
        return r;
    if (yyjson_mut_arr_size(pairs) == 0)
        return err_set(err, -EINVAL, "spec.keyValuePairs: expected at least one pair");
    if ((r = check_keys(pairs, err)) < 0)
        return r;
    yyjson_mut_val *keys = yyjson_mut_obj_add_arr(request->doc, spec, "keyValuePairs");
    yyjson_mut_arr_iter_init(pairs, &iter);
    while ((pair = yyjson_mut_arr_iter_next(&iter)))
        put_text(request->doc, yyjson_mut_arr_add_obj(request->doc, keys), "key",
                 yyjson_mut_get_str(yyjson_mut_obj_get(pair, "key")));
    return 0;
}

#define PLAIN(the_name, the_path, the_type, the_spec, ...) \
    {.name = the_name,                                     \
     .item = "asset:" the_name,                            \
     .path = ASSETS the_path,                              \
     .type = RESOURCE_##the_type,                          \
     .spec = the_spec,                                     \
     __VA_ARGS__}
#define SOURCE(the_name, the_path, the_key, the_type, the_spec, ...)                                              \
    PLAIN(the_name, "datasource/" the_path, the_type, the_spec, .group = ASSET_DATA_SOURCE, .group_key = the_key, \
          __VA_ARGS__)
#define SECRETS(the_name, the_path, the_spec, ...)                                                                    \
    PLAIN(the_name, "credentials/" the_path, CREDENTIALS, the_spec, .group = ASSET_CREDENTIAL, .group_key = the_name, \
          .update = asset_no_fields, __VA_ARGS__)

const struct asset_kind asset_kinds[] = {
    PLAIN("compute", "compute", COMPUTE_RESOURCES, compute_fields, .check = check_compute),
    PLAIN("environment", "environment", ENVIRONMENTS, environment_fields, .check = check_environment),
    SOURCE("pvc", "pvc", "pvc", PVC_ASSETS, pvc_fields, .update = pvc_update_fields, .check = check_pvc),
    SOURCE("git", "git", "git", GIT_ASSETS, git_fields, .check = check_git),
    SOURCE("nfs", "nfs", "nfs", NFS_ASSETS, nfs_fields, .check = check_nfs),
    SOURCE("s3", "s3", "s3", S3_ASSETS, s3_fields, .check = check_s3),
    SOURCE("hostPath", "host-path", "hostPath", HOST_PATH_ASSETS, host_path_fields, .check = check_host_path),
    SOURCE("config-map", "config-map", "config_map", CM_VOLUME_ASSETS, config_map_fields, .check = check_config_map),
    SOURCE("secret-volume", "secrets", "secret", SECRET_VOLUME_ASSETS, secret_volume_fields,
           .check = check_secret_volume),
    SECRETS("accessKey", "access-key", access_key_fields, .check = check_access_key),
    SECRETS("password", "password", password_fields, .check = check_password),
    SECRETS("dockerRegistry", "docker-registry", docker_registry_fields, .check = check_docker_registry,
            .can_be_private = true),
    SECRETS("genericSecret", "generic-secret", generic_secret_fields, .check = check_generic_secret,
            .can_be_private = true, .deleted = 204),
    SECRETS("ngcApiKey", "ngc-api-key", ngc_fields, .deleted = 204),
    PLAIN("registry", "registries", REGISTRIES, registry_fields, .created = 201, .updated = 200, .deleted = 204),
    PLAIN("workload-template", "workload-template", TEMPLATES, template_fields, .check = NULL),
};
const size_t asset_kind_count = ARRAY_LEN(asset_kinds);

const struct asset_kind *asset_kind_at(const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(asset_kinds); i++) {
        size_t len = strlen(asset_kinds[i].path);

        if (strncmp(path, asset_kinds[i].path, len) == 0 && (!path[len] || path[len] == '/' || path[len] == '?'))
            return &asset_kinds[i];
    }
    return NULL;
}

const struct asset_kind *asset_kind_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(asset_kinds); i++) {
        if (strcmp(asset_kinds[i].name, name) == 0)
            return &asset_kinds[i];
    }
    return NULL;
}
