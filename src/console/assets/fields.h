/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

#include "base/macros.h"
#include "base/vec.h"
#include "text/json.h"

struct err;

/*
 * What a JSON object may hold, as a table: one row for each member, up to one without a name. Reading checks the members that
 * the table has and copies them; others are left out.
 */
enum field_type {
    FIELD_TEXT,
    FIELD_NUMBER,
    FIELD_WHOLE,
    FIELD_BOOL,
    FIELD_OPTION,    // one of `options`
    FIELD_QUANTITY,  // as Kubernetes writes them
    FIELD_LABEL,     // a DNS label
    FIELD_MODE,      // "0644"
    FIELD_PATH,      // that begins with '/'
    FIELD_ASSET,     // the identifier of an asset, of one of the kinds in `options`
    FIELD_OBJECT,
    FIELD_LIST,  // of objects; of texts when there are no `fields`
    FIELD_ANY,   // JSON as it is
};

enum {
    FIELD_REQUIRED = 1,
    FIELD_SECRET = 2,  // kept apart, and never read back
    FIELD_TRUE = 4,    // the value when it is missing
    FIELD_FALSE = 8,
};

struct field {
    const char *name;
    enum field_type type;
    unsigned flags;
    double min;
    double max;  // 0: the type's own
    const char *const *options;
    const struct field *fields;
};

/* Identifiers of assets that were read; both texts are borrowed from the request. */
struct field_ref {
    const struct field *field;
    const char *id;
    const char *kind;  // that the request claims; NULL: none
};
struct field_refs VEC_OF(struct field_ref);

/* Copies the members of the object at `at` to `to`, and the secret ones to `secrets`. `secrets` and `refs` may be NULL where
 * the table has none. Returns 0 or -EINVAL. */
struct field_reading {
    yyjson_mut_doc *doc;
    yyjson_mut_val *secrets;
    struct field_refs *refs;
};
MUST_CHECK int asset_members_read(const struct json_at *at, const struct field *fields, struct field_reading *reading,
                                  yyjson_mut_val *to, struct err *err);

/* One value by its row. */
MUST_CHECK int asset_member_read(const struct json_at *at, const struct field *field, struct field_reading *reading,
                                 yyjson_mut_val **ret_value, struct err *err);

const struct field *asset_member_find(const struct field *fields, const char *name);
