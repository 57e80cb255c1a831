/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Types, and when a value of one type may stand where another is wanted. Type parameters are bound while arguments are
 * looked at, as cel-go binds them: a binding that turns out too narrow is widened.
 */
#include <ctype.h>
#include <string.h>

#include "base/strbuf.h"
#include "cel/core.h"

#define PLAIN(kind_, name_) {.kind = kind_, .name = name_}

const struct cel_type type_error = PLAIN(TYPE_ERROR, "!error!");
const struct cel_type type_dyn = PLAIN(TYPE_DYN, "dyn");
const struct cel_type type_any = PLAIN(TYPE_ANY, "any");
const struct cel_type type_null = PLAIN(TYPE_NULL, "null_type");
const struct cel_type type_bool = PLAIN(TYPE_BOOL, "bool");
const struct cel_type type_int = PLAIN(TYPE_INT, "int");
const struct cel_type type_uint = PLAIN(TYPE_UINT, "uint");
const struct cel_type type_double = PLAIN(TYPE_DOUBLE, "double");
const struct cel_type type_string = PLAIN(TYPE_STRING, "string");
const struct cel_type type_bytes = PLAIN(TYPE_BYTES, "bytes");

static const struct cel_type type_duration = PLAIN(TYPE_DURATION, "google.protobuf.Duration");
static const struct cel_type type_timestamp = PLAIN(TYPE_TIMESTAMP, "google.protobuf.Timestamp");
static const struct cel_type type_type = PLAIN(TYPE_TYPE, "type");
static const struct cel_type type_any_list = {TYPE_LIST, "list", {&type_dyn}, 1, 0};
static const struct cel_type type_any_map = {TYPE_MAP, "map", {&type_dyn, &type_dyn}, 2, 0};
static const struct cel_type type_any_optional = {TYPE_OPAQUE, "optional_type", {&type_dyn}, 1, 0};
static const struct cel_type type_quantity = PLAIN(TYPE_STRUCT, "kubernetes.Quantity");
static const struct cel_type type_semver = PLAIN(TYPE_STRUCT, "kubernetes.Semver");
static const struct cel_type type_url = PLAIN(TYPE_STRUCT, "kubernetes.URL");
static const struct cel_type type_format = PLAIN(TYPE_STRUCT, "kubernetes.NamedFormat");
static const struct cel_type type_ip = PLAIN(TYPE_OPAQUE, "net.IP");
static const struct cel_type type_cidr = PLAIN(TYPE_OPAQUE, "net.CIDR");

static const struct cel_type *const by_kind[CEL_KIND_COUNT] = {
    [CEL_ERROR] = &type_error,
    [CEL_NULL] = &type_null,
    [CEL_BOOL] = &type_bool,
    [CEL_INT] = &type_int,
    [CEL_UINT] = &type_uint,
    [CEL_DOUBLE] = &type_double,
    [CEL_STRING] = &type_string,
    [CEL_BYTES] = &type_bytes,
    [CEL_DURATION] = &type_duration,
    [CEL_TIMESTAMP] = &type_timestamp,
    [CEL_LIST] = &type_any_list,
    [CEL_MAP] = &type_any_map,
    [CEL_TYPE] = &type_type,
    [CEL_OPTIONAL] = &type_any_optional,
    [CEL_QUANTITY] = &type_quantity,
    [CEL_SEMVER] = &type_semver,
    [CEL_IP] = &type_ip,
    [CEL_CIDR] = &type_cidr,
    [CEL_URL] = &type_url,
    [CEL_FORMAT] = &type_format,
};

const struct cel_type *value_type(struct cel_value value)
{
    return by_kind[value.kind];
}

/* --- Making types --- */

static const struct cel_type *make(struct arena *arena, const struct cel_type *like, const struct cel_type *first,
                                   const struct cel_type *second)
{
    struct cel_type *type = arena_calloc(arena, 1, sizeof *type);

    *type = *like;
    type->params[0] = first;
    type->params[1] = second;
    type->param_count = second ? 2 : 1;
    return type;
}

const struct cel_type *type_list_of(struct arena *arena, const struct cel_type *item)
{
    return make(arena, &type_any_list, item, NULL);
}

const struct cel_type *type_map_of(struct arena *arena, const struct cel_type *key, const struct cel_type *value)
{
    return make(arena, &type_any_map, key, value);
}

const struct cel_type *type_optional_of(struct arena *arena, const struct cel_type *item)
{
    return make(arena, &type_any_optional, item, NULL);
}

const struct cel_type *type_type_of(struct arena *arena, const struct cel_type *item)
{
    return make(arena, &type_type, item, NULL);
}

const struct cel_type *type_param(struct arena *arena, uint32_t id)
{
    struct cel_type *type = arena_calloc(arena, 1, sizeof *type);

    *type = (struct cel_type){.kind = TYPE_PARAM, .name = "dyn", .param_id = id};
    return type;
}

const struct cel_type *type_by_name(const char *name)
{
    static const struct cel_type *const more[] = {&type_dyn, &type_any};

    for (size_t i = CEL_NULL; i < ARRAY_LEN(by_kind); i++)
        if (strcmp(by_kind[i]->name, name) == 0)
            return by_kind[i];
    for (size_t i = 0; i < ARRAY_LEN(more); i++)
        if (strcmp(more[i]->name, name) == 0)
            return more[i];
    return NULL;
}

static const struct cel_type *read_params(struct arena *arena, const struct cel_type *like, const char **at)
{
    const struct cel_type *params[2] = {0};

    for (int i = 0; i < 2 && **at != ')'; i++) {
        params[i] = type_read(arena, at);
        *at += strspn(*at, ", ");
    }
    (*at)++;
    return make(arena, like, params[0], params[1]);
}

const struct cel_type *type_read(struct arena *arena, const char **at)
{
    size_t len = strcspn(*at, "(), ");
    char *name = arena_calloc(arena, len + 1, 1);

    memcpy(name, *at, len);
    *at += len;
    if (len == 1 && isupper((unsigned char)*name))
        return type_param(arena, (uint32_t)(*name - 'A'));
    const struct cel_type *known = type_by_name(name);
    if (**at == '(' && known) {
        (*at)++;
        return read_params(arena, known, at);
    }
    if (known)
        return known;
    struct cel_type *object = arena_calloc(arena, 1, sizeof *object);
    *object = (struct cel_type){.kind = TYPE_STRUCT, .name = name};
    return object;
}

/* --- Comparing types --- */

bool type_is_exact(const struct cel_type *a, const struct cel_type *b)
{
    if (a->kind != b->kind || a->param_count != b->param_count)
        return false;
    if (a->kind == TYPE_PARAM)
        return a->param_id == b->param_id;
    if (strcmp(a->name, b->name) != 0)
        return false;
    for (int i = 0; i < a->param_count; i++)
        if (!type_is_exact(a->params[i], b->params[i]))
            return false;
    return true;
}

bool type_is_equivalent(const struct cel_type *a, const struct cel_type *b)
{
    if (a->kind != b->kind || a->param_count != b->param_count || strcmp(a->name, b->name) != 0)
        return false;
    for (int i = 0; i < a->param_count; i++)
        if (!type_is_equivalent(a->params[i], b->params[i]))
            return false;
    return true;
}

bool type_is_optional(const struct cel_type *type)
{
    return type->kind == TYPE_OPAQUE && strcmp(type->name, type_any_optional.name) == 0;
}

static bool is_dyn(const struct cel_type *type)
{
    return type->kind == TYPE_DYN || type->kind == TYPE_ANY;
}

static bool is_dyn_or_error(const struct cel_type *type)
{
    return is_dyn(type) || type->kind == TYPE_ERROR;
}

static bool is_equal_or_wider(const struct cel_type *a, const struct cel_type *b)
{
    if (is_dyn(a) || a->kind == TYPE_PARAM)
        return true;
    if (is_dyn(b) || b->kind == TYPE_PARAM || a->kind != b->kind)
        return false;
    if (a->kind == TYPE_TYPE)
        return true;
    if (strcmp(a->name, b->name) != 0 || a->param_count != b->param_count)
        return false;
    for (int i = 0; i < a->param_count; i++)
        if (!is_equal_or_wider(a->params[i], b->params[i]))
            return false;
    return true;
}

const struct cel_type *type_most_general(const struct cel_type *a, const struct cel_type *b)
{
    return is_equal_or_wider(a, b) ? a : b;
}

static const struct cel_type *bound(const struct bindings *bindings, const struct cel_type *param)
{
    for (uint32_t i = bindings->len; i-- > 0;)
        if (bindings->items[i].param_id == param->param_id)
            return bindings->items[i].type;
    return NULL;
}

static bool is_free_of(const struct bindings *bindings, const struct cel_type *param, const struct cel_type *within)
{
    if (type_is_exact(param, within))
        return false;
    if (within->kind == TYPE_PARAM) {
        const struct cel_type *type = bound(bindings, within);
        return !type || is_free_of(bindings, param, type);
    }
    for (int i = 0; i < within->param_count; i++)
        if (!is_free_of(bindings, param, within->params[i]))
            return false;
    return true;
}

static bool is_assignable(struct bindings *bindings, const struct cel_type *a, const struct cel_type *b);

static bool bind_param(struct bindings *bindings, const struct cel_type *type, const struct cel_type *param,
                       bool *ret_was_bound)
{
    const struct cel_type *now = bound(bindings, param);

    *ret_was_bound = true;
    if (type_is_exact(type, param))
        return true;
    if (now) {
        if (type_is_exact(type, now))
            return true;
        if (!is_assignable(bindings, type, now))
            return false;
        const struct cel_type *wider = type_most_general(type, now);
        if (is_free_of(bindings, param, wider))
            vec_push(bindings, (struct binding){param->param_id, wider});
        return true;
    }
    *ret_was_bound = false;
    if (!is_free_of(bindings, param, type))
        return false;
    vec_push(bindings, (struct binding){param->param_id, type});
    return true;
}

static bool takes_null(const struct cel_type *type)
{
    switch (type->kind) {
    case TYPE_NULL:
    case TYPE_OPAQUE:
    case TYPE_STRUCT:
    case TYPE_ANY:
    case TYPE_DURATION:
    case TYPE_TIMESTAMP:
        return true;
    default:
        return false;
    }
}

static bool is_assignable(struct bindings *bindings, const struct cel_type *a, const struct cel_type *b)
{
    bool was_bound;

    if (b->kind == TYPE_PARAM) {
        if (bind_param(bindings, a, b, &was_bound))
            return true;
        if (was_bound)
            return false;
    }
    if (a->kind == TYPE_PARAM)
        return bind_param(bindings, b, a, &was_bound);
    if (is_dyn_or_error(a) || is_dyn_or_error(b))
        return true;
    if (a->kind == TYPE_NULL)
        return takes_null(b);
    if (b->kind == TYPE_NULL)
        return takes_null(a);
    if (a->kind != b->kind)
        return false;
    if (a->kind == TYPE_TYPE)
        return true;
    if (strcmp(a->name, b->name) != 0 || a->param_count != b->param_count)
        return false;
    for (int i = 0; i < a->param_count; i++)
        if (!is_assignable(bindings, a->params[i], b->params[i]))
            return false;
    return true;
}

bool type_is_assignable(struct bindings *bindings, const struct cel_type *to, const struct cel_type *from)
{
    uint32_t before = bindings->len;

    if (is_assignable(bindings, to, from))
        return true;
    bindings->len = before;
    return false;
}

const struct cel_type *type_substitute(struct arena *arena, const struct bindings *bindings,
                                       const struct cel_type *type, bool is_free_dyn)
{
    const struct cel_type *params[2] = {0};
    bool is_other = false;

    if (type->kind == TYPE_PARAM) {
        const struct cel_type *now = bound(bindings, type);
        if (now)
            return type_substitute(arena, bindings, now, is_free_dyn);
        return is_free_dyn ? &type_dyn : type;
    }
    for (int i = 0; i < type->param_count; i++) {
        params[i] = type_substitute(arena, bindings, type->params[i], is_free_dyn);
        is_other = is_other || params[i] != type->params[i];
    }
    return is_other ? make(arena, type, params[0], params[1]) : type;
}

const struct cel_type *type_renumber(struct arena *arena, const struct cel_type *type, uint32_t by)
{
    const struct cel_type *params[2] = {0};
    bool is_other = false;

    if (type->kind == TYPE_PARAM)
        return type_param(arena, type->param_id + by);
    for (int i = 0; i < type->param_count; i++) {
        params[i] = type_renumber(arena, type->params[i], by);
        is_other = is_other || params[i] != type->params[i];
    }
    return is_other ? make(arena, type, params[0], params[1]) : type;
}

static void write_type(struct strbuf *out, const struct cel_type *type)
{
    strbuf_addstr(out, type->name);
    for (int i = 0; i < type->param_count; i++) {
        strbuf_addstr(out, i ? ", " : "(");
        write_type(out, type->params[i]);
    }
    if (type->param_count)
        strbuf_addch(out, ')');
}

const char *type_text(struct arena *arena, const struct cel_type *type)
{
    struct strbuf out;

    strbuf_init(&out, 200);
    write_type(&out, type);
    const char *text = arena_strdup(arena, out.text);
    strbuf_done(&out);
    return text;
}

/* --- Values at run time --- */

bool value_fits(struct cel_value value, const struct cel_type *type)
{
    if (is_dyn_or_error(type) || type->kind == TYPE_PARAM || value.kind == CEL_ERROR)
        return true;
    if (value_type(value)->kind != type->kind || strcmp(value_type(value)->name, type->name) != 0)
        return false;
    /* The first item speaks for all of them. */
    if (value.kind == CEL_LIST)
        return value.list->len == 0 || value_fits(value.list->items->values[0], type->params[0]);
    if (value.kind == CEL_MAP)
        return value.map->len == 0 || (value_fits(value.map->entries[0].key, type->params[0]) &&
                                       value_fits(value.map->entries[0].value, type->params[1]));
    return true;
}
