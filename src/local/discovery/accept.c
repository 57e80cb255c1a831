/* SPDX-License-Identifier: Apache-2.0 */
#include "local/discovery/accept.h"

#include <string.h>
#include <strings.h>

/* One range of the header: its type, and the parameters that choose a form. */
struct range {
    const char *type;
    size_t type_len;
    const char *as;
    size_t as_len;
    const char *group;
    size_t group_len;
    const char *version;
    size_t version_len;
};

static bool is_text(const char *bytes, size_t len, const char *text)
{
    return bytes && strlen(text) == len && strncasecmp(bytes, text, len) == 0;
}

static void read_parameter(struct range *range, const char *at, size_t len)
{
    const char *equals = memchr(at, '=', len);

    if (!equals)
        return;
    const char *value = equals + 1;
    size_t value_len = len - (size_t)(value - at);

    if (is_text(at, (size_t)(equals - at), "as")) {
        range->as = value;
        range->as_len = value_len;
    } else if (is_text(at, (size_t)(equals - at), "g")) {
        range->group = value;
        range->group_len = value_len;
    } else if (is_text(at, (size_t)(equals - at), "v")) {
        range->version = value;
        range->version_len = value_len;
    }
}

/* Takes the next range off the header. */
static bool next_range(const char **header, struct range *range)
{
    const char *at = *header + strspn(*header, ", \t");
    size_t len = strcspn(at, ",");

    if (len == 0)
        return false;
    *header = at + len;
    *range = (struct range){.type = at, .type_len = strcspn(at, ",; \t")};
    for (size_t i = range->type_len; i < len;) {
        i += strspn(at + i, "; \t");
        size_t part = strcspn(at + i, ",; \t");
        read_parameter(range, at + i, part);
        i += part;
    }
    return true;
}

static bool is_json(const struct range *range)
{
    return is_text(range->type, range->type_len, "application/json") || is_text(range->type, range->type_len, "*/*") ||
           is_text(range->type, range->type_len, "application/*");
}

static bool form_of(const struct range *range, enum accept_form *ret_form)
{
    if (!is_json(range))
        return false;
    if (!range->as) {
        *ret_form = ACCEPT_OBJECT;
        return true;
    }
    if (!is_text(range->group, range->group_len, "meta.k8s.io"))
        return false;
    bool is_beta = is_text(range->version, range->version_len, "v1beta1");

    if (!is_beta && !is_text(range->version, range->version_len, "v1"))
        return false;
    if (is_text(range->as, range->as_len, "Table"))
        *ret_form = is_beta ? ACCEPT_TABLE_BETA : ACCEPT_TABLE;
    else if (is_text(range->as, range->as_len, "PartialObjectMetadata") ||
             is_text(range->as, range->as_len, "PartialObjectMetadataList"))
        *ret_form = ACCEPT_METADATA;
    else
        return false;
    return true;
}

bool accept_form(const char *header, enum accept_form *ret_form)
{
    struct range range;

    *ret_form = ACCEPT_OBJECT;
    if (!header || !*header)
        return true;
    while (next_range(&header, &range)) {
        if (form_of(&range, ret_form))
            return true;
    }
    return false;
}

const char *accept_discovery(const char *header)
{
    struct range range;

    while (header && next_range(&header, &range)) {
        if (!is_json(&range))
            continue;
        if (!is_text(range.as, range.as_len, "APIGroupDiscoveryList"))
            return NULL;
        if (is_text(range.version, range.version_len, "v2"))
            return "v2";
        if (is_text(range.version, range.version_len, "v2beta1"))
            return "v2beta1";
    }
    return NULL;
}
