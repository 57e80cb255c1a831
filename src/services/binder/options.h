/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/macros.h"
#include "base/time.h"

struct err;

/* What the binder is told: the pods that keep GPUs, and the plugins that prepare a pod for its node. */

struct reservation_options {
    const char *namespace;
    const char *service_account;
    const char *image;
    const char *app_label;
    const char *runtime_class;  // "": none
    nsec_t timeout;             // until a pod has to say which GPU it got
    bool is_fake;               // nodes are pretended: the pod sleeps, others say which GPU it got
    yyjson_doc *resources;      // JSON as in a container; NULL: none
    yyjson_doc *pod_security;
    yyjson_doc *container_security;
};

enum binder_plugin {
    BINDER_PLUGIN_VOLUMES,
    BINDER_PLUGIN_CLAIMS,
    BINDER_PLUGIN_SHARING,
    BINDER_PLUGIN_HAMI,
    _BINDER_PLUGIN_MAX
};

struct plugin_options {
    bool is_enabled[_BINDER_PLUGIN_MAX];
    int64_t priority[_BINDER_PLUGIN_MAX];
    nsec_t volume_timeout;
    nsec_t claim_timeout;
    bool is_cdi;
    /* Those that are enabled, in the order in which they prepare a pod: by falling priority, then by name. */
    enum binder_plugin order[_BINDER_PLUGIN_MAX];
    size_t count;
};

const char *binder_plugin_name(enum binder_plugin plugin);

/*
 * Reads the plugins from JSON, {"name": {"enabled": true, "priority": 100, "arguments": {"cdiEnabled": "false"}}}; ""
 * for the defaults, which also hold for what is not named. Returns 0, or -EINVAL when a plugin that is not known is
 * enabled, an argument is missing or makes no sense, or one that needs another comes before it.
 */
MUST_CHECK int plugin_options_parse(const char *json, struct plugin_options *ret_options, struct err *err);
