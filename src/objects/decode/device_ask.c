/* SPDX-License-Identifier: Apache-2.0 */

/* Requests of claims, and what classes say, for the allocator. In v1beta1 a request's fields stand beside its name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "objects/decode/decode.h"
#include "objects/decode/device_parts_internal.h"

int device_selectors_decode(struct arena *arena, const struct json_at *at, const char *const **ret_selectors,
                            size_t *ret_count, struct err *err)
{
    struct json_at list;
    size_t count = 0;

    TRY(json_member_array(at, "selectors", JSON_OPTIONAL, &list, err));
    const char **selectors = arena_calloc(arena, json_len(&list), sizeof *selectors);
    for (struct json_at item = {0}; json_next(&list, &item); count++) {
        struct json_at cel = json_member(&item, "cel");
        const char *expression = json_peek_str(&cel, "expression");

        /* A selector of another kind is not met by chance: one that does not compile is met by nothing. */
        selectors[count] = expression ? expression : "";
    }
    *ret_selectors = selectors;
    *ret_count = count;
    return 0;
}

int device_configs_decode(struct arena *arena, const struct json_at *at, const struct device_config **ret_configs,
                          size_t *ret_count, struct err *err)
{
    struct json_at list;
    size_t count = 0;

    TRY(json_member_array(at, "config", JSON_OPTIONAL, &list, err));
    struct device_config *configs = arena_calloc(arena, json_len(&list), sizeof *configs);
    for (struct json_at item = {0}; json_next(&list, &item); count++) {
        struct json_at requests;
        struct json_at opaque;

        TRY(json_member_array(&item, "requests", JSON_OPTIONAL, &requests, err));
        TRY(strings_decode(arena, &requests, &configs[count].requests, &configs[count].request_count, err));
        TRY(json_member_object(&item, "opaque", JSON_OPTIONAL, &opaque, err));
        char *text = opaque.val ? yyjson_val_write(opaque.val, 0, NULL) : NULL;
        configs[count].text = text ? arena_printf(arena, "{\"opaque\":%s}", text) : "{}";
        free(text);
    }
    *ret_configs = configs;
    *ret_count = count;
    return 0;
}

static int tolerations_decode(struct arena *arena, const struct json_at *at, struct device_ask *ask, struct err *err)
{
    struct json_at list;
    size_t count = 0;

    TRY(json_member_array(at, "tolerations", JSON_OPTIONAL, &list, err));
    struct device_toleration *tolerations = arena_calloc(arena, json_len(&list), sizeof *tolerations);
    for (struct json_at item = {0}; json_next(&list, &item); count++) {
        const char *how = json_peek_str(&item, "operator");
        const char *effect = json_peek_str(&item, "effect");

        tolerations[count] = (struct device_toleration){
            .key = json_peek_str(&item, "key"),
            .value = json_peek_str(&item, "value"),
            .exists = how && strcmp(how, "Exists") == 0,
            .any_effect = !effect || !*effect,
            .effect = device_effect_of(effect),
            .has_seconds = json_member(&item, "tolerationSeconds").val != NULL,
        };
        TRY(json_member_int64(&item, "tolerationSeconds", JSON_OPTIONAL, INT64_MIN, INT64_MAX,
                              &tolerations[count].seconds, err));
    }
    ask->tolerations = tolerations;
    ask->toleration_count = count;
    return 0;
}

/* `at` is an ExactDeviceRequest or a DeviceSubRequest. */
static int ask_decode(struct arena *arena, const struct json_at *at, struct device_ask *ask, struct err *err)
{
    struct json_at capacity;
    struct json_at requests;
    const char *mode = json_peek_str(at, "allocationMode");

    ask->count = 1;
    TRY(json_member_str(at, "deviceClassName", JSON_OPTIONAL, &ask->device_class, err));
    TRY(json_member_int64(at, "count", JSON_OPTIONAL, 0, INT64_MAX, &ask->count, err));
    TRY(json_member_bool(at, "adminAccess", JSON_OPTIONAL, &ask->is_admin, err));
    TRY(device_selectors_decode(arena, at, &ask->selectors, &ask->selector_count, err));
    TRY(tolerations_decode(arena, at, ask, err));
    TRY(json_member_object(at, "capacity", JSON_OPTIONAL, &capacity, err));
    TRY(json_member_object(&capacity, "requests", JSON_OPTIONAL, &requests, err));
    TRY(device_amounts_decode(arena, &requests, NULL, &ask->capacity, &ask->capacity_count, err));
    ask->is_all = mode && strcmp(mode, "All") == 0;
    if (ask->count == 0)
        ask->count = 1;
    return 0;
}

static int request_decode(struct arena *arena, const struct json_at *at, struct device_request *request,
                          struct err *err)
{
    struct json_at exactly;
    struct json_at list;
    size_t count = 0;

    TRY(json_member_str(at, "name", JSON_OPTIONAL, &request->name, err));
    TRY(json_member_object(at, "exactly", JSON_OPTIONAL, &exactly, err));
    TRY(json_member_array(at, "firstAvailable", JSON_OPTIONAL, &list, err));
    struct device_ask *asks = arena_calloc(arena, MAX(json_len(&list), (size_t)1), sizeof *asks);
    for (struct json_at item = {0}; json_next(&list, &item); count++) {
        TRY(json_member_str(&item, "name", JSON_REQUIRED, &asks[count].name, err));
        TRY(ask_decode(arena, &item, &asks[count], err));
        asks[count].is_admin = false;
    }
    if (count == 0)
        TRY(ask_decode(arena, exactly.val ? &exactly : at, &asks[count++], err));
    request->asks = asks;
    request->ask_count = count;
    return 0;
}

static int constraint_decode(struct arena *arena, const struct json_at *at, struct device_constraint *constraint,
                             struct err *err)
{
    struct json_at requests;
    const char *distinct = NULL;

    TRY(json_member_array(at, "requests", JSON_OPTIONAL, &requests, err));
    TRY(strings_decode(arena, &requests, &constraint->requests, &constraint->request_count, err));
    TRY(json_member_str(at, "matchAttribute", JSON_OPTIONAL, &constraint->attribute, err));
    TRY(json_member_str(at, "distinctAttribute", JSON_OPTIONAL, &distinct, err));
    /* One that is neither cannot be met: no device has an attribute without a name. */
    if (!constraint->attribute) {
        constraint->attribute = distinct;
        constraint->is_distinct = distinct != NULL;
    }
    return 0;
}

int claim_ask_decode(struct arena *arena, const struct json_at *devices, struct claim_ask *ret_ask, struct err *err)
{
    struct json_at list;
    size_t count = 0;

    TRY(json_member_array(devices, "requests", JSON_OPTIONAL, &list, err));
    struct device_request *requests = arena_calloc(arena, json_len(&list), sizeof *requests);
    for (struct json_at item = {0}; json_next(&list, &item); count++)
        TRY(request_decode(arena, &item, &requests[count], err));
    ret_ask->requests = requests;
    ret_ask->request_count = count;

    TRY(json_member_array(devices, "constraints", JSON_OPTIONAL, &list, err));
    struct device_constraint *constraints = arena_calloc(arena, json_len(&list), sizeof *constraints);
    count = 0;
    for (struct json_at item = {0}; json_next(&list, &item); count++)
        TRY(constraint_decode(arena, &item, &constraints[count], err));
    ret_ask->constraints = constraints;
    ret_ask->constraint_count = count;
    return device_configs_decode(arena, devices, &ret_ask->configs, &ret_ask->config_count, err);
}
