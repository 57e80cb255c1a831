/* SPDX-License-Identifier: Apache-2.0 */
#include "services/operator/plugins_internal.h"

#include <string.h>

/* What a plugin is when the Config says nothing of it. */
static const struct {
    const char *name;
    bool is_enabled;
    int priority;
    const char *argument;  // that the operator fills in; NULL: none
} rows[] = {
    {"volumebinding", true, 300, "bindTimeoutSeconds"},
    {"dynamicresources", true, 200, "bindTimeoutSeconds"},
    {"gpusharing", true, 100, "cdiEnabled"},
    {"hamicore", false, 50, NULL},
};

enum { BIND_SECONDS = 120 };

static const char *argument_of(struct draft *draft, yyjson_val *section, const char *name)
{
    if (name[0] == 'c')
        return conf_bool(section, "cdiEnabled", draft->around->has_cdi) ? "true" : "false";
    return draft_text(draft, "%d", conf_int(section, "volumeBindingTimeoutSeconds", BIND_SECONDS));
}

/* Arguments of the Config stand in place of the defaults, except for whether CDI is used, which has to be there. */
static yyjson_mut_val *arguments_of(struct draft *draft, yyjson_val *section, yyjson_val *own, const char *argument)
{
    yyjson_mut_val *arguments = pack_copy(draft->doc, conf_at(own, "arguments"));

    if (!arguments)
        arguments = pack(draft->doc, "{}");
    if (argument && !yyjson_mut_obj_get(arguments, argument))
        (void)yyjson_mut_obj_add_strcpy(draft->doc, arguments, argument, argument_of(draft, section, argument));
    return arguments;
}

static yyjson_mut_val *plugin(struct draft *draft, yyjson_val *own, bool is_enabled, int priority,
                              yyjson_mut_val *arguments)
{
    return pack(draft->doc, "{enabled: %i, priority: %d, arguments: %p}", conf_bool(own, "enabled", is_enabled),
                conf_int(own, "priority", priority), (void *)arguments);
}

static bool is_known(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strcmp(rows[i].name, name) == 0)
            return true;
    return false;
}

yyjson_mut_val *binder_plugins(struct draft *draft, yyjson_val *section)
{
    yyjson_mut_val *plugins = pack(draft->doc, "{}");
    yyjson_val *owns = conf_at(section, "plugins");
    yyjson_val *key, *own;
    size_t i, max;

    for (size_t row = 0; row < ARRAY_LEN(rows); row++) {
        own = conf_at(owns, rows[row].name);
        yyjson_mut_val *arguments = arguments_of(draft, section, own, rows[row].argument);

        (void)yyjson_mut_obj_add_val(draft->doc, plugins, rows[row].name,
                                     plugin(draft, own, rows[row].is_enabled, rows[row].priority, arguments));
    }
    yyjson_obj_foreach(owns, i, max, key, own)
    {
        const char *name = draft_text(draft, "%s", yyjson_get_str(key));

        if (!is_known(name))
            (void)yyjson_mut_obj_add_val(draft->doc, plugins, name,
                                         plugin(draft, own, true, 0, pack_copy(draft->doc, conf_at(own, "arguments"))));
    }
    return plugins;
}
