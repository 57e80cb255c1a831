/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/devices/shares.h"

#include <stddef.h>

#include "model/ids.h"

void share_book_done(struct share_book *book)
{
    map64_done(&book->first);
    vec_done(&book->sums);
}

void share_book_clear(struct share_book *book)
{
    map64_clear(&book->first);
    vec_clear(&book->sums);
}

size_t share_book_bytes(const struct share_book *book)
{
    return map64_bytes(&book->first) + vec_bytes(&book->sums);
}

static uint32_t first_of(const struct share_book *book, uint32_t device)
{
    uint64_t at;

    return map64_get(&book->first, device, &at) ? (uint32_t)at : NO_ID;
}

static struct share_sum *sum_of(struct share_book *book, uint32_t device, const char *name)
{
    uint32_t first = first_of(book, device);

    for (uint32_t i = first; i != NO_ID; i = book->sums.items[i].next)
        if (book->sums.items[i].name == name)
            return &book->sums.items[i];
    map64_put(&book->first, device, book->sums.len);
    vec_push(&book->sums, (struct share_sum){.name = name, .next = first});
    return &book->sums.items[book->sums.len - 1];
}

void share_book_add(struct share_book *book, uint32_t device, const struct device_amount *amounts, uint32_t count)
{
    if (count == 0)
        sum_of(book, device, NULL)->shares++;
    for (uint32_t i = 0; i < count; i++) {
        struct share_sum *sum = sum_of(book, device, amounts[i].name);

        sum->sum += amount_nano(&amounts[i]);
        sum->shares++;
    }
}

void share_book_remove(struct share_book *book, uint32_t device, const struct device_amount *amounts, uint32_t count)
{
    if (count == 0)
        sum_of(book, device, NULL)->shares--;
    for (uint32_t i = 0; i < count; i++) {
        struct share_sum *sum = sum_of(book, device, amounts[i].name);

        sum->sum -= amount_nano(&amounts[i]);
        sum->shares--;
    }
}

bool share_book_has(const struct share_book *book, uint32_t device)
{
    if (book->sums.len == 0)
        return false;
    for (uint32_t i = first_of(book, device); i != NO_ID; i = book->sums.items[i].next)
        if (book->sums.items[i].shares > 0)
            return true;
    return false;
}

bool share_book_has_amounts(const struct share_book *book, uint32_t device)
{
    for (uint32_t i = first_of(book, device); i != NO_ID; i = book->sums.items[i].next)
        if (book->sums.items[i].name && book->sums.items[i].shares > 0)
            return true;
    return false;
}

device_nano share_book_sum(const struct share_book *book, uint32_t device, const char *name)
{
    if (book->sums.len == 0)
        return 0;
    for (uint32_t i = first_of(book, device); i != NO_ID; i = book->sums.items[i].next)
        if (book->sums.items[i].name == name)
            return book->sums.items[i].sum;
    return 0;
}

static bool is_set(const struct device_amount *amount)
{
    return amount->text && *amount->text;
}

/* Steps are counted in whole units: parts of one are rounded up, as Kubernetes does. */
static device_nano whole_units(const struct device_amount *amount)
{
    return (device_nano)amount->whole + (amount->nano > 0);
}

/* False when no amount of the range is as large. */
static bool round_to_range(const struct capacity_policy *policy, struct device_amount *amount)
{
    if (amount_nano(amount) < amount_nano(&policy->min)) {
        *amount = policy->min;
        return true;
    }
    device_nano step = is_set(&policy->step) ? whole_units(&policy->step) : 0;
    if (step > 0) {
        device_nano min = whole_units(&policy->min);
        device_nano above = whole_units(amount) - min;
        device_nano rounded = min + (above + step - 1) / step * step;

        if (rounded > INT64_MAX)
            return false;
        *amount = (struct device_amount){.text = "", .whole = (int64_t)rounded};
    }
    return !is_set(&policy->max) || amount_nano(amount) <= amount_nano(&policy->max);
}

static bool round_to_values(const struct capacity_policy *policy, struct device_amount *amount)
{
    for (size_t i = 0; i < policy->value_count; i++)
        if (amount_nano(amount) <= amount_nano(&policy->values[i])) {
            *amount = policy->values[i];
            return true;
        }
    return false;
}

/* What is taken of the capacity when `wanted` (NULL: nothing) is asked for; false when so much is not allowed. */
static bool amount_taken(const struct device_amount *capacity, const struct capacity_policy *policy,
                         const struct device_amount *wanted, struct device_amount *ret_amount)
{
    bool is_allowed = true;

    if (!wanted) {
        *ret_amount = policy && is_set(&policy->fallback) ? policy->fallback : *capacity;
    } else {
        *ret_amount = *wanted;
        if (policy && is_set(&policy->min))
            is_allowed = round_to_range(policy, ret_amount);
        else if (policy && policy->value_count > 0)
            is_allowed = round_to_values(policy, ret_amount);
    }
    ret_amount->name = capacity->name;
    return is_allowed;
}

static const struct device_amount *find_amount(const struct device_amount *amounts, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (amounts[i].name == name)
            return &amounts[i];
    return NULL;
}

static const struct capacity_policy *find_policy(const struct device_offer *offer, const char *name)
{
    for (size_t i = 0; i < offer->policy_count; i++)
        if (offer->policies[i].name == name)
            return &offer->policies[i];
    return NULL;
}

enum share_answer share_amounts(struct arena *arena, const struct device_offer *offer, const struct device_ask *ask,
                                const struct device_amount **ret_amounts, const char **ret_name)
{
    for (size_t i = 0; i < ask->capacity_count; i++)
        if (!find_amount(offer->capacity, offer->capacity_count, ask->capacity[i].name)) {
            *ret_name = ask->capacity[i].name;
            return SHARE_NO_CAPACITY;
        }
    struct device_amount *amounts = arena_calloc(arena, offer->capacity_count, sizeof *amounts);
    for (size_t i = 0; i < offer->capacity_count; i++) {
        const char *name = offer->capacity[i].name;

        if (!amount_taken(&offer->capacity[i], find_policy(offer, name),
                          find_amount(ask->capacity, ask->capacity_count, name), &amounts[i])) {
            *ret_name = name;
            return SHARE_NOT_ALLOWED;
        }
    }
    *ret_amounts = amounts;
    return SHARE_OK;
}
