/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Device classes. Which devices are of a class is told by expressions in CEL. Of these one thing is read here, which nearly
 * every class says: that its devices are of one driver.
 */
#include <string.h>

#include "base/err.h"
#include "objects/decode/decode.h"
#include "objects/decode/device_parts_internal.h"

static const char *skip_space(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

/* The end of a string in quotes: behind the closing one, or of the text where there is none. */
static const char *skip_quoted(const char *at)
{
    char quote = *at++;

    while (*at && *at != quote)
        at += *at == '\\' && at[1] ? 2 : 1;
    return *at ? at + 1 : at;
}

/* The end of a part of a conjunction; NULL when the text is none, since something else binds less. */
static const char *conjunct_end(const char *at)
{
    int depth = 0;

    while (*at && !(depth == 0 && strncmp(at, "&&", 2) == 0)) {
        if (depth == 0 && (strncmp(at, "||", 2) == 0 || *at == '?'))
            return NULL;
        depth += (*at == '(' || *at == '[' || *at == '{') - (*at == ')' || *at == ']' || *at == '}');
        at = *at == '"' || *at == '\'' ? skip_quoted(at) : at + 1;
    }
    return at;
}

/* `device.driver == "name"`, alone between `at` and `end`; NULL when it is something else. */
static const char *driver_of_conjunct(struct arena *arena, const char *at, const char *end)
{
    static const char member[] = "device.driver";

    at = skip_space(at);
    if (strncmp(at, member, sizeof member - 1) != 0)
        return NULL;
    at = skip_space(at + sizeof member - 1);
    if (strncmp(at, "==", 2) != 0)
        return NULL;
    at = skip_space(at + 2);
    if (*at != '"' && *at != '\'')
        return NULL;
    const char *close = skip_quoted(at);
    if (close - at < 3 || close[-1] != *at || skip_space(close) < end || memchr(at, '\\', (size_t)(close - at)))
        return NULL;
    return arena_printf(arena, "%.*s", (int)(close - at - 2), at + 1);
}

static const char *driver_of_expression(struct arena *arena, const char *text)
{
    const char *driver = NULL;

    for (const char *at = text, *end; !driver; at = end + 2) {
        end = conjunct_end(at);
        if (!end)
            return NULL;
        driver = driver_of_conjunct(arena, at, end);
        if (!*end)
            break;
    }
    /* A later part may yet be no part of a conjunction. */
    for (const char *at = text, *end; driver; at = end + 2) {
        end = conjunct_end(at);
        if (!end)
            return NULL;
        if (!*end)
            break;
    }
    return driver;
}

int device_class_decode(struct object_reader *reader, const struct object *object, struct err *err)
{
    struct device_class_spec spec = {.name = object->name, .created = object->created};
    struct json_at in;

    TRY(json_member_object(&object->root, "spec", JSON_OPTIONAL, &in, err));
    TRY(json_member_str(&in, "extendedResourceName", JSON_OPTIONAL, &spec.resource, err));
    TRY(device_selectors_decode(&reader->scratch, &in, &spec.selectors, &spec.selector_count, err));
    TRY(device_configs_decode(&reader->scratch, &in, &spec.configs, &spec.config_count, err));
    for (size_t i = 0; i < spec.selector_count && !spec.driver; i++)
        spec.driver = driver_of_expression(&reader->scratch, spec.selectors[i]);
    state_put_device_class(reader->state, &spec);
    return 0;
}
