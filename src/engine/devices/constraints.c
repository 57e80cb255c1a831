/* SPDX-License-Identifier: Apache-2.0 */

/* What devices of a claim have to have in common, or must not. */
#include <stdio.h>
#include <string.h>

#include "engine/devices/allocate_internal.h"

/* An attribute by its name with the domain; NULL when the device has none. */
static const struct device_attribute *find_attribute(const struct pick *pick, const char *name)
{
    const struct device_offer *offer = pick->slice->offers ? &pick->slice->offers[pick->device] : NULL;
    const char *slash = strchr(name, '/');
    size_t domain = slash ? (size_t)(slash - name) : 0;
    bool is_own = slash && strlen(pick->driver) == domain && strncmp(pick->driver, name, domain) == 0;

    for (size_t i = 0; offer && i < offer->attribute_count; i++)
        if (offer->attributes[i].name == name)
            return &offer->attributes[i];
    for (size_t i = 0; offer && is_own && i < offer->attribute_count; i++)
        if (strcmp(offer->attributes[i].name, slash + 1) == 0)
            return &offer->attributes[i];
    return NULL;
}

enum { VALUE_TEXT = 24 };

static const char *value_text(const struct device_attribute *attribute, size_t i, char text[static VALUE_TEXT])
{
    if (attribute->value_count > 0)
        return attribute->values[i];
    if (attribute->kind == ATTRIBUTE_BOOL)
        return attribute->integer ? "true" : "false";
    if (attribute->kind != ATTRIBUTE_INT)
        return attribute->text;
    (void)snprintf(text, VALUE_TEXT, "%lld", (long long)attribute->integer);
    return text;
}

/* Is the value at `i` of `other` one of the attribute's? A single value is a list of one. */
static bool has_value(const struct device_attribute *attribute, const struct device_attribute *other, size_t i)
{
    char own[VALUE_TEXT];
    char text[VALUE_TEXT];

    if (attribute->kind != other->kind)
        return false;
    if (attribute->value_count == 0 && other->value_count == 0)
        return attribute->integer == other->integer && attribute->text == other->text;
    for (size_t k = 0; k < MAX(attribute->value_count, (size_t)1); k++)
        if (strcmp(value_text(attribute, k, own), value_text(other, i, text)) == 0)
            return true;
    return false;
}

static bool constraint_is_for(const struct device_constraint *constraint, const struct pick *pick)
{
    for (size_t i = 0; i < constraint->request_count; i++)
        if (constraint->requests[i] == pick->request->name || constraint->requests[i] == pick->ask->full_name)
            return true;
    return constraint->request_count == 0;
}

/* How many devices that the constraint is for were picked for the claim, and how many of them have the value? */
static void count_alike(const struct allocator *allocator, const struct device_constraint *constraint,
                        const struct pick *pick, const struct device_attribute *value, size_t i, uint32_t *ret_all,
                        uint32_t *ret_alike)
{
    *ret_all = *ret_alike = 0;
    vec_foreach (&allocator->picks, other) {
        if (other->claim != pick->claim || !constraint_is_for(constraint, other))
            continue;
        *ret_alike += has_value(find_attribute(other, constraint->attribute), value, i);
        ++*ret_all;
    }
}

/* All devices have a value in common, or no two of them do. */
bool constraint_is_met(const struct allocator *allocator, const struct device_constraint *constraint,
                       const struct pick *pick)
{
    if (!constraint_is_for(constraint, pick))
        return true;
    const struct device_attribute *value = find_attribute(pick, constraint->attribute);
    if (!value)
        return false;
    for (size_t i = 0; i < MAX(value->value_count, (size_t)1); i++) {
        uint32_t all;
        uint32_t alike;

        count_alike(allocator, constraint, pick, value, i, &all, &alike);
        if (constraint->is_distinct && alike > 0)
            return false;
        if (!constraint->is_distinct && alike == all)
            return true;
    }
    return constraint->is_distinct;
}
