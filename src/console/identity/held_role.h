/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <yyjson.h>

#include "base/macros.h"
#include "console/identity/roles.h"

struct db;
struct err;

/* A role that somebody can hold: one of the table, or one that an administrator has made, which is an item of the database. */
enum { ROLE_NAME_MAX = 64, CUSTOM_ROLE_FIRST = 1000 };

struct held_role {
    int64_t id;
    char name[ROLE_NAME_MAX + 1];
    uint8_t actions[_RESOURCE_TYPE_MAX];
};

/* -ENOENT when there is none. */
MUST_CHECK int held_role_load(struct db *db, int64_t id, struct held_role *ret_role, struct err *err);

/* Permissions as the REST writes them: [{"resourceType": ..., "actions": [...]}]. Returns -EINVAL for what is none. */
MUST_CHECK int permissions_parse(yyjson_val *list, uint8_t actions[static _RESOURCE_TYPE_MAX], struct err *err);
