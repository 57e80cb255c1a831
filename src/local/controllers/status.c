/* SPDX-License-Identifier: Apache-2.0 */
#include "local/controllers/status.h"

#include <string.h>

#include "base/macros.h"
#include "local/controllers/values.h"

void status_add_count(yyjson_mut_doc *doc, yyjson_mut_val *status, const char *key, int64_t count)
{
    if (count != 0)
        (void)yyjson_mut_obj_add_int(doc, status, key, count);
}

void status_add_time(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, nsec_t time)
{
    char text[TIME_TEXT_MAX];

    (void)yyjson_mut_obj_add_strcpy(doc, to, key, time_format(time - time % NSEC_PER_SEC, text));
}

void status_keep(yyjson_mut_doc *doc, yyjson_mut_val *status, yyjson_val *object, const char *key)
{
    yyjson_val *value = value_at(object, "status", key);

    if (value)
        (void)yyjson_mut_obj_add_val(doc, status, key, yyjson_val_mut_copy(doc, value));
}

yyjson_mut_val *status_conditions(yyjson_mut_doc *doc, yyjson_val *object)
{
    yyjson_val *conditions = value_at(object, "status", "conditions");

    return yyjson_is_arr(conditions) ? yyjson_val_mut_copy(doc, conditions) : yyjson_mut_arr(doc);
}

void status_add_conditions(yyjson_mut_doc *doc, yyjson_mut_val *status, yyjson_mut_val *conditions)
{
    if (yyjson_mut_arr_size(conditions) > 0)
        (void)yyjson_mut_obj_add_val(doc, status, "conditions", conditions);
}

static yyjson_mut_val *find(yyjson_mut_val *conditions, const char *type)
{
    size_t i, max;
    yyjson_mut_val *one;

    yyjson_mut_arr_foreach(conditions, i, max, one)
    {
        if (yyjson_mut_equals_str(yyjson_mut_obj_get(one, "type"), type))
            return one;
    }
    return NULL;
}

static void put_time(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, nsec_t time)
{
    (void)yyjson_mut_obj_remove_str(to, key);
    status_add_time(doc, to, key, time);
}

static bool is_text(yyjson_mut_val *condition, const char *key, const char *text)
{
    return yyjson_mut_equals_str(yyjson_mut_obj_get(condition, key), text);
}

void status_set_condition(yyjson_mut_doc *doc, yyjson_mut_val *conditions, const struct status_condition *condition,
                          nsec_t now)
{
    yyjson_mut_val *one = find(conditions, condition->type);
    bool is_same_status = one && is_text(one, "status", condition->status);

    if (is_same_status && is_text(one, "reason", condition->reason) && is_text(one, "message", condition->message) &&
        yyjson_mut_get_sint(yyjson_mut_obj_get(one, "observedGeneration")) == condition->generation)
        return;
    if (!one)
        one = yyjson_mut_arr_add_obj(doc, conditions);
    const char *const members[][2] = {{"type", condition->type},
                                      {"status", condition->status},
                                      {"reason", condition->reason},
                                      {"message", condition->message}};
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        (void)yyjson_mut_obj_put(one, yyjson_mut_str(doc, members[i][0]), yyjson_mut_strcpy(doc, members[i][1]));
    if (condition->generation)
        (void)yyjson_mut_obj_put(one, yyjson_mut_str(doc, "observedGeneration"),
                                 yyjson_mut_sint(doc, condition->generation));
    if (!is_same_status)
        put_time(doc, one, "lastTransitionTime", now);
    if (condition->has_probe_time)
        put_time(doc, one, "lastProbeTime", now);
    if (condition->has_update_time)
        put_time(doc, one, "lastUpdateTime", now);
}
