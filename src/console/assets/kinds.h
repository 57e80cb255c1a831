/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "console/assets/fields.h"
#include "console/identity/roles.h"

struct request;

/* Kinds of assets: one row each, which the handlers of assets.c serve. Specs are tables of specs.c. */

enum asset_group { ASSET_PLAIN, ASSET_DATA_SOURCE, ASSET_CREDENTIAL };

struct asset_kind {
    const char *name;       // the member `kind`
    const char *item;       // of the database
    const char *path;       // of the REST
    const char *group_key;  // of `spec` in the list of a whole group
    enum asset_group group;
    enum resource_type type;
    const struct field *spec;
    const struct field *update;  // what can be changed later; NULL: the whole spec
    /* What the table cannot say; NULL: nothing. Sees the spec as it will be kept, and the secret members. */
    int (*check)(struct request *request, yyjson_mut_val *spec, yyjson_mut_val *secrets, struct err *err);
    int created;  // status of answers; 0: 202
    int updated;
    int deleted;
    bool can_be_private;
};

#define ASSETS "/api/v1/asset/"

extern const struct asset_kind asset_kinds[];
extern const size_t asset_kind_count;

/* By a path of the REST, or by the member `kind`; NULL: there is none. */
const struct asset_kind *asset_kind_at(const char *path);
const struct asset_kind *asset_kind_find(const char *name);

/* Specs. */
extern const struct field asset_no_fields[];
extern const struct field compute_fields[];
extern const struct field environment_fields[];
extern const struct field pvc_fields[];
extern const struct field pvc_update_fields[];
extern const struct field git_fields[];
extern const struct field nfs_fields[];
extern const struct field s3_fields[];
extern const struct field host_path_fields[];
extern const struct field config_map_fields[];
extern const struct field secret_volume_fields[];
extern const struct field access_key_fields[];
extern const struct field password_fields[];
extern const struct field docker_registry_fields[];
extern const struct field generic_secret_fields[];
extern const struct field ngc_fields[];
extern const struct field registry_fields[];
extern const struct field template_fields[];
extern const struct field supported_types_fields[];

/* Parts that policies know as well. */
extern const struct field environment_variable_fields[];
extern const struct field probe_fields[];
extern const struct field affinity_fields[];
extern const struct field pod_affinity_fields[];
extern const struct field toleration_fields[];
extern const struct field annotation_fields[];
extern const struct field pull_secret_fields[];
extern const char *const capability_names[];
