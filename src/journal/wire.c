/* SPDX-License-Identifier: Apache-2.0 */
#include "journal/wire.h"

#include <string.h>

/* No name, label or list that the API takes comes near these. */
enum { STRING_BYTES_MAX = 1 << 20, ITEMS_MAX = 1 << 20 };

void wire_put_number(struct wire_bytes *out, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        vec_push(out, (uint8_t)(number | 0x80));
    vec_push(out, (uint8_t)number);
}

/* Small negative numbers are short, too. */
static uint64_t fold(int64_t number)
{
    return ((uint64_t)number << 1) ^ (number < 0 ? UINT64_MAX : 0);
}

static int64_t unfold(uint64_t number)
{
    return (int64_t)((number >> 1) ^ (number & 1 ? UINT64_MAX : 0));
}

static void put_bytes(struct wire_bytes *out, const void *bytes, size_t len)
{
    if (len == 0)
        return;
    vec_reserve(out, out->len + len);
    memcpy(out->items + out->len, bytes, len);
    out->len += (uint32_t)len;
}

static void put_string(struct wire_bytes *out, const char *text)
{
    size_t len = text ? strlen(text) : 0;

    wire_put_number(out, text ? len + 1 : 0);
    put_bytes(out, text, len);
}

static void put_double(struct wire_bytes *out, double number)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof bits);
    for (int i = 0; i < 64; i += 8)
        vec_push(out, (uint8_t)(bits >> i));
}

static void put_array(struct wire_bytes *out, const struct wire_field *field, const void *value, const void *member)
{
    size_t count = *(const size_t *)((const char *)value + field->count_at);
    const void *items = *(const void *const *)member;

    wire_put_number(out, count);
    if (count == 0)
        return;
    wire_put_number(out, items != NULL);
    for (size_t i = 0; items && i < count; i++) {
        if (field->type == WIRE_STRINGS)
            put_string(out, ((const char *const *)items)[i]);
        else if (field->type == WIRE_NUMBERS)
            wire_put_number(out, ((const uint64_t *)items)[i]);
        else
            wire_put(out, field->shape, (const char *)items + i * field->shape->size);
    }
}

static void put_pointer(struct wire_bytes *out, const struct wire_field *field, const void *target)
{
    wire_put_number(out, target != NULL);
    if (target)
        wire_put(out, field->shape, target);
}

static void put_member(struct wire_bytes *out, const struct wire_field *field, const void *value, const void *member)
{
    switch (field->type) {
    case WIRE_STRING:
        put_string(out, *(const char *const *)member);
        break;
    case WIRE_BOOL:
        wire_put_number(out, *(const bool *)member);
        break;
    case WIRE_U8:
        wire_put_number(out, *(const uint8_t *)member);
        break;
    case WIRE_U16:
        wire_put_number(out, *(const uint16_t *)member);
        break;
    case WIRE_U32:
    case WIRE_ENUM:
        wire_put_number(out, *(const uint32_t *)member);
        break;
    case WIRE_U64:
        wire_put_number(out, *(const uint64_t *)member);
        break;
    case WIRE_I32:
        wire_put_number(out, fold(*(const int32_t *)member));
        break;
    case WIRE_I64:
        wire_put_number(out, fold(*(const int64_t *)member));
        break;
    case WIRE_DOUBLE:
        put_double(out, *(const double *)member);
        break;
    case WIRE_STRUCT:
        wire_put(out, field->shape, member);
        break;
    case WIRE_POINTER:
        put_pointer(out, field, *(const void *const *)member);
        break;
    case WIRE_STRINGS:
    case WIRE_STRUCTS:
    case WIRE_NUMBERS:
        put_array(out, field, value, member);
        break;
    }
}

void wire_put(struct wire_bytes *out, const struct wire_shape *shape, const void *value)
{
    for (size_t i = 0; i < shape->count; i++) {
        const struct wire_field *field = &shape->fields[i];

        if (field->until > 0)
            continue;
        for (uint32_t k = 0; k < MAX(field->repeat, 1U); k++)
            put_member(out, field, value, (const char *)value + field->at + (size_t)k * field->step);
    }
}

static uint64_t bad(struct wire_in *in)
{
    in->is_bad = true;
    in->at = in->end;
    return 0;
}

uint64_t wire_get_number(struct wire_in *in)
{
    uint64_t number = 0;

    for (int shift = 0; shift < 64; shift += 7) {
        if (in->at == in->end)
            return bad(in);
        uint8_t byte = *in->at++;

        if (shift == 63 && byte > 1)
            return bad(in);
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return number;
    }
    return bad(in);
}

static uint64_t get_below(struct wire_in *in, uint64_t bound)
{
    uint64_t number = wire_get_number(in);

    return number < bound ? number : bad(in);
}

static void *take(struct wire_in *in, size_t count, size_t size)
{
    if (count * size > in->budget) {
        bad(in);
        return NULL;
    }
    in->budget -= count * size;
    return arena_calloc(in->arena, count, size);
}

static const char *get_string(struct wire_in *in)
{
    uint64_t len = get_below(in, STRING_BYTES_MAX);

    if (len == 0)
        return NULL;
    len--;
    if (len > (size_t)(in->end - in->at) || memchr(in->at, '\0', len)) {
        bad(in);
        return NULL;
    }
    char *text = take(in, len + 1, 1);

    if (text)
        memcpy(text, in->at, len);
    in->at += len;
    return text;
}

static double get_double(struct wire_in *in)
{
    uint64_t bits = 0;
    double number;

    if (in->end - in->at < 8)
        return (double)bad(in);
    for (int i = 0; i < 64; i += 8)
        bits |= (uint64_t)*in->at++ << i;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static size_t item_size(const struct wire_field *field)
{
    if (field->type == WIRE_STRUCTS)
        return field->shape->size;
    return field->type == WIRE_STRINGS ? sizeof(char *) : sizeof(uint64_t);
}

static void get_array(struct wire_in *in, const struct wire_field *field, void *value, void *member)
{
    size_t count = get_below(in, ITEMS_MAX);
    void *items = NULL;

    bool is_there = count > 0 && get_below(in, 2) == 1;

    if (count > 0 && !is_there && !field->may_be_unnamed)
        bad(in);
    if (is_there) {
        /* Every item has at least one byte of its own, so that a small record cannot ask for much. */
        items = count <= (size_t)(in->end - in->at) ? take(in, count, item_size(field)) : NULL;
        if (!items)
            bad(in);
    }
    if (in->is_bad)
        return;
    for (size_t i = 0; items && i < count; i++) {
        if (field->type == WIRE_STRINGS)
            ((const char **)items)[i] = get_string(in);
        else if (field->type == WIRE_NUMBERS)
            ((uint64_t *)items)[i] = wire_get_number(in);
        else
            wire_get(in, field->shape, (char *)items + i * field->shape->size);
    }
    *(size_t *)((char *)value + field->count_at) = count;
    *(void **)member = items;
}

static void *get_pointer(struct wire_in *in, const struct wire_field *field)
{
    void *target = get_below(in, 2) == 1 ? take(in, 1, field->shape->size) : NULL;

    if (target)
        wire_get(in, field->shape, target);
    return target;
}

static void get_member(struct wire_in *in, const struct wire_field *field, void *value, void *member)
{
    switch (field->type) {
    case WIRE_STRING:
        *(const char **)member = get_string(in);
        break;
    case WIRE_BOOL:
        *(bool *)member = get_below(in, 2);
        break;
    case WIRE_U8:
        *(uint8_t *)member = (uint8_t)get_below(in, UINT64_C(1) << 8);
        break;
    case WIRE_U16:
        *(uint16_t *)member = (uint16_t)get_below(in, UINT64_C(1) << 16);
        break;
    case WIRE_U32:
        *(uint32_t *)member = (uint32_t)get_below(in, UINT64_C(1) << 32);
        break;
    case WIRE_ENUM:
        *(uint32_t *)member = (uint32_t)get_below(in, field->max);
        break;
    case WIRE_U64:
        *(uint64_t *)member = wire_get_number(in);
        break;
    case WIRE_I32:
        *(int32_t *)member = (int32_t)unfold(get_below(in, UINT64_C(1) << 32));
        break;
    case WIRE_I64:
        *(int64_t *)member = unfold(wire_get_number(in));
        break;
    case WIRE_DOUBLE:
        *(double *)member = get_double(in);
        break;
    case WIRE_STRUCT:
        wire_get(in, field->shape, member);
        break;
    case WIRE_POINTER:
        *(void **)member = get_pointer(in, field);
        break;
    case WIRE_STRINGS:
    case WIRE_STRUCTS:
    case WIRE_NUMBERS:
        get_array(in, field, value, member);
        break;
    }
}

static bool is_in_form(const struct wire_field *field, uint32_t form)
{
    return form >= field->since && (field->until == 0 || form < field->until);
}

void wire_get(struct wire_in *in, const struct wire_shape *shape, void *ret_value)
{
    for (size_t i = 0; i < shape->count; i++) {
        const struct wire_field *field = &shape->fields[i];

        if (!is_in_form(field, in->form))
            continue;
        for (uint32_t k = 0; k < MAX(field->repeat, 1U); k++)
            get_member(in, field, ret_value, (char *)ret_value + field->at + (size_t)k * field->step);
    }
}

uint64_t wire_fingerprint(const struct wire_shape *shape, uint32_t form)
{
    uint64_t sum = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < shape->count; i++) {
        const struct wire_field *field = &shape->fields[i];

        if (!is_in_form(field, form))
            continue;
        uint64_t inner = field->shape ? wire_fingerprint(field->shape, form) : 0;

        sum = (sum ^ (uint64_t)field->type) * UINT64_C(1099511628211);
        sum = (sum ^ ((uint64_t)field->repeat << 32 | field->max)) * UINT64_C(1099511628211);
        sum = (sum ^ inner) * UINT64_C(1099511628211);
    }
    return sum;
}
