/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/devices/selectors.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cel/device.h"
#include "model/state.h"

/* Claims come and go with their expressions: beyond so many, all are compiled again when they are asked for. */
enum { SELECTORS_MAX = 4096 };

static void drop_all(struct selector_book *book)
{
    vec_foreach (&book->all, selector) {
        cel_program_free(selector->program);
        free(selector->answers);
    }
    vec_clear(&book->all);
    map64_clear(&book->by_text);
}

void selector_book_done(struct selector_book *book)
{
    drop_all(book);
    vec_done(&book->all);
    map64_done(&book->by_text);
    cel_env_free(book->env);
    book->env = NULL;
}

size_t selector_book_bytes(const struct selector_book *book)
{
    size_t bytes = vec_bytes(&book->all) + map64_bytes(&book->by_text);

    for (uint32_t i = 0; i < book->all.len; i++)
        bytes += book->all.items[i].answers ? book->device_count : 0;
    return bytes;
}

void selector_book_reset(struct selector_book *book, uint32_t device_count)
{
    vec_foreach (&book->all, selector) {
        free(selector->answers);
        selector->answers = NULL;
    }
    book->device_count = device_count;
}

static struct kept_selector *find(struct selector_book *book, const char *text)
{
    uint64_t at;

    if (map64_get(&book->by_text, (uint64_t)(uintptr_t)text, &at))
        return &book->all.items[at];
    if (book->all.len >= SELECTORS_MAX)
        drop_all(book);
    if (!book->env)
        book->env = device_env_new(DEVICE_LISTS_ON);
    struct kept_selector selector = {0};
    if (device_selector_compile(book->env, text, &selector.program, NULL) < 0)
        selector.program = NULL;
    map64_put(&book->by_text, (uint64_t)(uintptr_t)text, book->all.len);
    vec_push(&book->all, selector);
    return &book->all.items[book->all.len - 1];
}

static int attribute_value(struct arena *arena, const struct device_attribute *attribute, struct cel_value *ret)
{
    switch (attribute->kind) {
    case ATTRIBUTE_INT:
        *ret = cel_int(attribute->integer);
        return 0;
    case ATTRIBUTE_BOOL:
        *ret = cel_bool(attribute->integer != 0);
        return 0;
    case ATTRIBUTE_VERSION:
        return cel_semver(arena, attribute->text, ret);
    default:
        *ret = cel_string(attribute->text);
        return 0;
    }
}

/* Values of lists are kept as text. */
static int list_value(struct arena *arena, const struct device_attribute *attribute, struct cel_value *ret)
{
    struct cel_value *values = arena_calloc(arena, attribute->value_count, sizeof *values);

    for (size_t i = 0; i < attribute->value_count; i++) {
        struct device_attribute one = {.kind = attribute->kind, .text = attribute->values[i]};

        if (one.kind == ATTRIBUTE_INT)
            one.integer = strtoll(one.text, NULL, 10);
        if (one.kind == ATTRIBUTE_BOOL)
            one.integer = strcmp(one.text, "true") == 0;
        int r = attribute_value(arena, &one, &values[i]);
        if (r < 0)
            return r;
    }
    *ret = cel_list(arena, values, attribute->value_count);
    return 0;
}

static int describe(struct device_value *value, const struct device_offer *offer)
{
    struct cel_value part;

    for (size_t i = 0; i < offer->attribute_count; i++) {
        const struct device_attribute *attribute = &offer->attributes[i];
        int r = attribute->value_count > 0 ? list_value(value->arena, attribute, &part)
                                           : attribute_value(value->arena, attribute, &part);
        if (r < 0)
            return r;
        device_value_attribute(value, offer->attributes[i].name, part);
    }
    for (size_t i = 0; i < offer->capacity_count; i++) {
        int r = cel_quantity(value->arena, offer->capacity[i].text, &part);
        if (r < 0)
            return r;
        device_value_capacity(value, offer->capacity[i].name, part);
    }
    return 0;
}

enum answer selector_evaluate(const struct cel_program *program, const struct state *state, const struct slice *slice,
                              uint32_t device)
{
    static const struct device_offer nothing = {0};
    const struct device_offer *offer = slice->offers ? &slice->offers[device] : &nothing;
    struct arena arena;
    struct device_value value;
    bool does_match = false;

    arena_init(&arena);
    device_value_init(&value, &arena, state_name(state, slice->driver));
    int r = describe(&value, offer);
    if (r >= 0)
        r = device_matches(program, device_value_finish(&value, offer->allows_multiple), &does_match, NULL);
    arena_done(&arena);
    return r < 0 ? ANSWER_ERROR : does_match ? ANSWER_YES : ANSWER_NO;
}

enum answer selector_ask(struct selector_book *book, const struct state *state, const char *text,
                         const struct slice *slice, uint32_t device, uint32_t number)
{
    struct kept_selector *selector = find(book, text);

    if (!selector->program)
        return ANSWER_ERROR;
    if (!selector->answers)
        selector->answers = xcalloc(book->device_count, 1);
    if (selector->answers[number] == ANSWER_UNKNOWN)
        selector->answers[number] = (uint8_t)selector_evaluate(selector->program, state, slice, device);
    return selector->answers[number];
}
