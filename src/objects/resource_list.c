/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/resource_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "objects/fields.h"

/* Of one list; the API server takes far fewer. What goes beyond is left out. */
enum { RESOURCES_MAX = 1024 };

/* Stands for what is no amount. */
#define ODD ((quantity_nano) - 1)

struct resource_amount {
    struct quantity amount;
    uint32_t name;
};

struct resource_list {
    struct resource_list *next;  // with the same hash
    uint64_t hash;
    uint32_t refs;
    uint32_t count;
    struct resource_amount items[];  // by name, each once
};

void resource_lists_init(struct resource_lists *lists)
{
    intern_init(&lists->names);
    map64_init(&lists->by_hash);
}

void resource_lists_done(struct resource_lists *lists)
{
    BUG_ON(map64_len(&lists->by_hash) > 0);
    intern_done(&lists->names);
    map64_done(&lists->by_hash);
}

/* A list is counted by all who use it, and changed by nobody but for that. */
static struct resource_list *own(const struct resource_list *list)
{
    return (struct resource_list *)(uintptr_t)list;
}

const struct resource_list *resource_list_ref(const struct resource_list *list)
{
    if (list)
        own(list)->refs++;
    return list;
}

static struct resource_list *first_of(const struct resource_lists *lists, uint64_t hash)
{
    uint64_t at = 0;

    return map64_get(&lists->by_hash, hash, &at) ? (struct resource_list *)(uintptr_t)at : NULL;
}

void resource_list_unref(struct resource_lists *lists, const struct resource_list *list)
{
    if (!list || --own(list)->refs > 0)
        return;
    struct resource_list *first = first_of(lists, list->hash);

    if (first != list) {
        struct resource_list *before = first;

        while (before->next != list)
            before = before->next;
        before->next = list->next;
    } else if (list->next) {
        map64_put(&lists->by_hash, list->hash, (uintptr_t)list->next);
    } else {
        (void)map64_remove(&lists->by_hash, list->hash);
    }
    free(own(list));
}

static bool is_same(const struct resource_amount *one, const struct resource_amount *other)
{
    return one->name == other->name && one->amount.nano == other->amount.nano && one->amount.nano != ODD;
}

bool resource_list_is_equal(const struct resource_list *one, const struct resource_list *other)
{
    uint32_t count = one ? one->count : 0;

    if (count != (other ? other->count : 0))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_same(&one->items[i], &other->items[i]))
            return false;
    }
    return true;
}

static bool is_written_alike(const struct resource_list *list, const struct resource_amount *items, uint32_t count)
{
    if (list->count != count)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (list->items[i].name != items[i].name || list->items[i].amount.nano != items[i].amount.nano ||
            list->items[i].amount.is_binary != items[i].amount.is_binary)
            return false;
    }
    return true;
}

static uint64_t hash_of(const struct resource_amount *items, uint32_t count)
{
    uint64_t hash = 0;

    for (uint32_t i = 0; i < count; i++) {
        hash = hash_bytes(&items[i].name, sizeof items[i].name, hash);
        hash = hash_bytes(&items[i].amount.nano, sizeof items[i].amount.nano, hash);
    }
    return hash;
}

/* The list with these items, which are in order; a new one, or one that is there. */
static const struct resource_list *take(struct resource_lists *lists, const struct resource_amount *items,
                                        uint32_t count)
{
    uint64_t hash = hash_of(items, count);
    struct resource_list *first = first_of(lists, hash);

    if (count == 0)
        return NULL;
    for (struct resource_list *at = first; at; at = at->next) {
        if (is_written_alike(at, items, count))
            return resource_list_ref(at);
    }
    struct resource_list *list = xmalloc(sizeof *list + count * sizeof *items);
    *list = (struct resource_list){.next = first, .hash = hash, .refs = 1, .count = count};
    memcpy(list->items, items, count * sizeof *items);
    map64_put(&lists->by_hash, hash, (uintptr_t)list);
    return list;
}

bool resource_list_get(const struct resource_lists *lists, const struct resource_list *list, const char *name,
                       struct quantity *ret_amount)
{
    for (uint32_t i = 0; list && i < list->count; i++) {
        if (strcmp(intern_str(&lists->names, list->items[i].name), name) == 0 && list->items[i].amount.nano != ODD) {
            *ret_amount = list->items[i].amount;
            return true;
        }
    }
    return false;
}

bool resource_list_get_suffix(const struct resource_lists *lists, const struct resource_list *list, const char *suffix,
                              struct quantity *ret_amount)
{
    size_t len = strlen(suffix);

    for (uint32_t i = 0; list && i < list->count; i++) {
        const char *name = intern_str(&lists->names, list->items[i].name);
        size_t name_len = strlen(name);

        if (name_len >= len && strcmp(name + name_len - len, suffix) == 0 && list->items[i].amount.nano != ODD) {
            *ret_amount = list->items[i].amount;
            return true;
        }
    }
    return false;
}

/* Puts the item where its name belongs; one of the same name is replaced. */
static void insert(const struct resource_lists *lists, struct resource_amount *items, uint32_t *count,
                   struct resource_amount item)
{
    const char *name = intern_str(&lists->names, item.name);
    uint32_t at = *count;

    while (at > 0 && strcmp(intern_str(&lists->names, items[at - 1].name), name) > 0)
        at--;
    if (at > 0 && items[at - 1].name == item.name) {
        items[at - 1] = item;
        return;
    }
    memmove(&items[at + 1], &items[at], (*count - at) * sizeof *items);
    items[at] = item;
    (*count)++;
}

static struct quantity read_amount(yyjson_val *val)
{
    struct quantity amount = {.nano = ODD};
    char number[NUMBER_TEXT_MAX];
    const char *text = yyjson_get_str(val);

    if (yyjson_is_num(val))
        text = number_format(val, number);
    if (!text || quantity_parse_exact(text, &amount, NULL) < 0)
        amount = (struct quantity){.nano = ODD};
    return amount;
}

const struct resource_list *resource_list_read(struct resource_lists *lists, yyjson_val *at, const char **ret_odd)
{
    size_t len = yyjson_is_obj(at) ? MIN(yyjson_obj_size(at), (size_t)RESOURCES_MAX) : 0;
    _cleanup_(freep) struct resource_amount *items = xcalloc(len + 1, sizeof *items);
    uint32_t count = 0;
    yyjson_obj_iter iter;
    yyjson_val *key;

    if (len == 0 || !yyjson_obj_iter_init(at, &iter))
        return NULL;
    for (size_t i = 0; i < len && (key = yyjson_obj_iter_next(&iter)); i++) {
        struct resource_amount item = {.amount = read_amount(yyjson_obj_iter_get_val(key))};
        const char *name = yyjson_get_str(key);

        if (memchr(name, '\0', yyjson_get_len(key)))
            continue;
        if (item.amount.nano == ODD && ret_odd)
            *ret_odd = name;
        item.name = intern_id(&lists->names, name, yyjson_get_len(key));
        insert(lists, items, &count, item);
    }
    return take(lists, items, count);
}

static const struct resource_amount *find(const struct resource_list *list, uint32_t name)
{
    for (uint32_t i = 0; list && i < list->count; i++) {
        if (list->items[i].name == name)
            return &list->items[i];
    }
    return NULL;
}

static void put(yyjson_mut_doc *doc, yyjson_mut_val *patch, const char *name, yyjson_mut_val *value)
{
    (void)yyjson_mut_obj_put(patch, yyjson_mut_strcpy(doc, name), value);
}

yyjson_mut_val *resource_list_patch(const struct resource_lists *lists, const struct resource_list *from,
                                    const struct resource_list *to, yyjson_mut_doc *doc)
{
    char text[QUANTITY_EXACT_TEXT_MAX];

    if (resource_list_is_equal(from, to))
        return NULL;
    if (!to)
        return yyjson_mut_null(doc);
    yyjson_mut_val *patch = yyjson_mut_obj(doc);
    for (uint32_t i = 0; i < to->count; i++) {
        const struct resource_amount *item = &to->items[i], *old = find(from, item->name);

        if (!old || !is_same(old, item))
            put(doc, patch, intern_str(&lists->names, item->name),
                yyjson_mut_strcpy(doc, quantity_format_exact(&item->amount, text)));
    }
    for (uint32_t i = 0; from && i < from->count; i++) {
        if (!find(to, from->items[i].name))
            put(doc, patch, intern_str(&lists->names, from->items[i].name), yyjson_mut_null(doc));
    }
    return patch;
}

void resource_sum_done(struct resource_sum *sum)
{
    vec_done(&sum->totals);
}

void resource_sum_clear(struct resource_sum *sum)
{
    vec_clear(&sum->totals);
}

static struct resource_total *total_of(struct resource_sum *sum, uint32_t name)
{
    vec_foreach (&sum->totals, total) {
        if (total->name == name)
            return total;
    }
    vec_push(&sum->totals, (struct resource_total){.name = name});
    return &vec_last(&sum->totals);
}

static void add(struct resource_sum *sum, const struct resource_amount *item)
{
    struct resource_total *total = total_of(sum, item->name);

    if (item->amount.nano == ODD)
        return;
    total->nano += item->amount.nano;
    total->addends++;
    total->binary += item->amount.is_binary;
}

void resource_sum_add(struct resource_sum *sum, const struct resource_list *list)
{
    for (uint32_t i = 0; list && i < list->count; i++)
        add(sum, &list->items[i]);
}

void resource_sum_subtract(struct resource_sum *sum, const struct resource_list *list)
{
    for (uint32_t i = 0; list && i < list->count; i++) {
        const struct resource_amount *item = &list->items[i];
        struct resource_total *total = total_of(sum, item->name);

        if (item->amount.nano == ODD)
            continue;
        total->nano -= item->amount.nano;
        total->addends--;
        total->binary -= item->amount.is_binary;
    }
    for (uint32_t i = sum->totals.len; i > 0; i--) {
        if (sum->totals.items[i - 1].addends == 0)
            vec_swap_remove(&sum->totals, i - 1);
    }
}

void resource_sum_add_all(struct resource_sum *sum, const struct resource_sum *other)
{
    vec_foreach (&other->totals, from) {
        struct resource_total *total = total_of(sum, from->name);

        total->nano += from->nano;
        total->addends += from->addends;
        total->binary += from->binary;
    }
}

void resource_sum_add_one(struct resource_lists *lists, struct resource_sum *sum, const char *name,
                          struct quantity amount)
{
    add(sum, &(struct resource_amount){.amount = amount, .name = intern_id(&lists->names, name, strlen(name))});
}

const struct resource_list *resource_sum_list(struct resource_lists *lists, const struct resource_sum *sum)
{
    _cleanup_(freep) struct resource_amount *items = xcalloc(sum->totals.len + 1, sizeof *items);
    uint32_t count = 0;

    vec_foreach (&sum->totals, total) {
        struct quantity amount = {.nano = total->nano, .is_binary = total->binary > 0};

        if (total->addends > 0)
            insert(lists, items, &count, (struct resource_amount){.amount = amount, .name = total->name});
    }
    return take(lists, items, count);
}
