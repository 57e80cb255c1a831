/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/device.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "cel/core.h"

static const char device_type[] = "kubernetes.DRADevice";

#define ATTRIBUTES "attributes"

struct cel_env *device_env_new(enum device_lists lists)
{
    struct cel_env *env = cel_env_new();

    cel_env_field(env, device_type, "driver", "string");
    cel_env_field(env, device_type, "allowMultipleAllocations", "bool");
    cel_env_field(env, device_type, ATTRIBUTES,
                  lists == DEVICE_LISTS_ON ? "map(string, map(string, dyn))" : "map(string, map(string, any))");
    cel_env_field(env, device_type, "capacity", "map(string, map(string, kubernetes.Quantity))");
    cel_env_variable(env, "device", device_type);
    return env;
}

/* An attribute may be the result: its type is not known. */
static bool may_be_bool(const struct cel_env *env, const char *type)
{
    vec_foreach (&env->fields, field)
        if (strcmp(field->name, ATTRIBUTES) == 0 && strcmp(type, field->type->params[1]->params[1]->name) == 0)
            return true;
    return strcmp(type, type_bool.name) == 0 || strcmp(type, type_any.name) == 0;
}

int device_selector_compile(const struct cel_env *env, const char *expression, struct cel_program **ret_selector,
                            struct err *err)
{
    struct cel_program *program = NULL;

    if (strlen(expression) > CEL_DEVICE_EXPRESSION_BYTES_MAX)
        return err_set(err, -EINVAL, "1:1: must not be longer than %d bytes", CEL_DEVICE_EXPRESSION_BYTES_MAX);
    int r = cel_compile(env, expression, &program, err);

    if (r < 0)
        return r;
    const char *type = cel_program_type(program);
    if (!may_be_bool(env, type)) {
        r = err_set(err, -EINVAL, "1:1: must evaluate to bool or the unknown type, not %s", type);
        cel_program_free(program);
        return r;
    }
    *ret_selector = program;
    return 0;
}

static struct cel_map *map_by_domain(struct arena *arena)
{
    struct cel_map *map = cel_map_new(arena);
    struct cel_value *empty = arena_calloc(arena, 1, sizeof *empty);

    *empty = cel_map_value(cel_map_new(arena));
    cel_map_set_default(map, empty);
    return map;
}

void device_value_init(struct device_value *device, struct arena *arena, const char *driver)
{
    *device = (struct device_value){.arena = arena, .driver = driver};
    device->attributes = map_by_domain(arena);
    device->capacity = map_by_domain(arena);
}

static void put(struct device_value *device, struct cel_map *domains, const char *name, struct cel_value value)
{
    const char *slash = strchr(name, '/');
    struct cel_value domain = slash ? cel_string_of(name, (size_t)(slash - name)) : cel_string(device->driver);
    struct cel_map *members = cel_map_find_map(domains, domain);

    if (!members) {
        members = cel_map_new(device->arena);
        cel_map_put(device->arena, domains, domain, cel_map_value(members));
    }
    cel_map_put(device->arena, members, cel_string(slash ? slash + 1 : name), value);
}

void device_value_attribute(struct device_value *device, const char *name, struct cel_value value)
{
    put(device, device->attributes, name, value);
}

void device_value_capacity(struct device_value *device, const char *name, struct cel_value quantity)
{
    put(device, device->capacity, name, quantity);
}

struct cel_value device_value_finish(struct device_value *device, bool allows_multiple)
{
    struct cel_map *map = cel_map_new(device->arena);

    cel_map_put(device->arena, map, cel_string("driver"), cel_string(device->driver));
    cel_map_put(device->arena, map, cel_string("allowMultipleAllocations"), cel_bool(allows_multiple));
    cel_map_put(device->arena, map, cel_string(ATTRIBUTES), cel_map_value(device->attributes));
    cel_map_put(device->arena, map, cel_string("capacity"), cel_map_value(device->capacity));
    return cel_map_value(map);
}

int device_matches(const struct cel_program *selector, struct cel_value device, bool *ret_does_match, struct err *err)
{
    const struct cel_variable variable = {.name = "device", .value = device};
    struct arena arena;
    int r = 0;

    arena_init(&arena);
    struct cel_result result = cel_eval(selector, &variable, 1, CEL_DEVICE_COST_MAX, &arena);
    if (result.outcome != CEL_VALUE)
        r = err_set(err, -EINVAL, "%s", result.value.explanation);
    else if (result.value.kind != CEL_BOOL)
        r = err_set(err, -EINVAL, "the selector is neither true nor false");
    else
        *ret_does_match = result.value.boolean;
    arena_done(&arena);
    return r;
}
