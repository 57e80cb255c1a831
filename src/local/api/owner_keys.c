/* SPDX-License-Identifier: Apache-2.0 */
#include "local/api/owner_keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/* UINT32_MAX stands for "no uid" in system calls. */
enum { UID_DIGITS_MAX = 10 };

int owner_uid_parse(const char *text, uint32_t *ret_uid, struct err *err)
{
    size_t len = text ? strlen(text) : 0;
    unsigned long long uid = len > 0 && len <= UID_DIGITS_MAX ? strtoull(text, NULL, 10) : UINT32_MAX;

    if (len == 0 || strspn(text, "0123456789") != len || uid >= UINT32_MAX)
        return err_set(err, -EINVAL,
                       "metadata.annotations[\"" KEY_SUBMITTED_BY "\"]: expected a uid, for example 1000");
    *ret_uid = (uint32_t)uid;
    return 0;
}

int owner_uid(yyjson_val *object, uint32_t daemon_owner, uint32_t *ret_uid, struct err *err)
{
    yyjson_val *value =
        yyjson_obj_get(yyjson_obj_get(yyjson_obj_get(object, "metadata"), "annotations"), KEY_SUBMITTED_BY);

    if (value)
        return owner_uid_parse(yyjson_get_str(value), ret_uid, err);
    *ret_uid = daemon_owner;
    return 0;
}
