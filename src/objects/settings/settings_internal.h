/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "objects/settings/settings.h"

/* The plugin or action called `name`, added (enabled, priority 0) when it is not there. */
struct plugin_setting *settings_plugin(struct settings *settings, const char *name);
struct action_setting *settings_action(struct settings *settings, const char *name);

/* Sets an argument of a plugin, in place of one that it has. */
void settings_argument(struct settings *settings, struct plugin_setting *plugin, const char *key, const char *value);

/* Arguments in place of all that the plugin has; scalars of any type count as their text. */
int settings_arguments_decode(struct settings *settings, struct plugin_setting *plugin, const struct json_at *at,
                              struct err *err);

/* queueDepthPerAction, and scenarioSearchBudgets. */
int settings_depths_decode(struct settings *settings, const struct json_at *at, struct err *err);
int settings_budgets_decode(struct settings *settings, const struct json_at *at, struct err *err);

void settings_usage_init(struct usage_setting *usage);

/* usageDBConfig; a place without a value leaves time-based fair share off. */
int settings_usage_decode(struct settings *settings, const struct json_at *at, struct err *err);
