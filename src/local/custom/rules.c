/* SPDX-License-Identifier: Apache-2.0 */
#include "local/custom/rules.h"

#include <ctype.h>
#include <string.h>

#include "base/macros.h"
#include "base/strmap.h"

#define HOSTNAME "kubernetes.io/hostname"

typedef bool (*rule_fn)(yyjson_mut_val *levels, yyjson_mut_val *old);

static const char *label_of(yyjson_mut_val *level)
{
    const char *label = yyjson_mut_get_str(yyjson_mut_obj_get(level, "nodeLabel"));

    return label ? label : "";
}

static bool keeps_labels(yyjson_mut_val *levels, yyjson_mut_val *old)
{
    yyjson_mut_arr_iter before = yyjson_mut_arr_iter_with(old);
    yyjson_mut_arr_iter after = yyjson_mut_arr_iter_with(levels);

    if (yyjson_mut_arr_size(levels) != yyjson_mut_arr_size(old))
        return false;
    for (yyjson_mut_val *level; (level = yyjson_mut_arr_iter_next(&after));)
        if (strcmp(label_of(level), label_of(yyjson_mut_arr_iter_next(&before))) != 0)
            return false;
    return true;
}

static bool has_unique_labels(yyjson_mut_val *levels, yyjson_mut_val *old)
{
    struct strmap seen = {0};
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(levels);

    (void)old;
    for (yyjson_mut_val *level; (level = yyjson_mut_arr_iter_next(&iter));)
        (void)strmap_put(&seen, "", label_of(level), level);
    bool is_unique = seen.len == yyjson_mut_arr_size(levels);
    strmap_done(&seen);
    return is_unique;
}

static bool has_hostname_last(yyjson_mut_val *levels, yyjson_mut_val *old)
{
    yyjson_mut_arr_iter iter = yyjson_mut_arr_iter_with(levels);
    bool has_hostname = false;

    (void)old;
    for (yyjson_mut_val *level; (level = yyjson_mut_arr_iter_next(&iter));)
        has_hostname |= strcmp(label_of(level), HOSTNAME) == 0;
    return !has_hostname || strcmp(label_of(yyjson_mut_arr_get_last(levels)), HOSTNAME) == 0;
}

static const struct {
    const char *text;
    rule_fn holds;
    bool is_transition;
} rules[] = {
    {"self.map(l, l.nodeLabel) == oldSelf.map(l, l.nodeLabel)", keeps_labels, true},
    {"size(self.filter(i, size(self.filter(j, j.nodeLabel == i.nodeLabel)) > 1)) == 0", has_unique_labels, false},
    {"size(self.filter(i, i.nodeLabel == '" HOSTNAME "')) == 0 || self[size(self) - 1].nodeLabel == '" HOSTNAME "'",
     has_hostname_last, false},
};

static bool is_same_but_spaces(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (isspace((unsigned char)*a))
            a++;
        while (isspace((unsigned char)*b))
            b++;
        if (*a != *b)
            return false;
        if (*a == '\0')
            return true;
    }
}

int rule_find(const char *text)
{
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        if (is_same_but_spaces(text, rules[i].text))
            return (int)i;
    return -1;
}

bool rule_is_transition(int rule)
{
    return rules[rule].is_transition;
}

bool rule_holds(int rule, yyjson_mut_val *value, yyjson_mut_val *old)
{
    return rules[rule].holds(value, old);
}
