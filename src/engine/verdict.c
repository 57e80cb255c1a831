/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/verdict.h"

#include "base/macros.h"

static const struct row {
    const char *name;
    enum verdict_class class;
} rows[] = {
    [VERDICT_NONE] = {"none", VERDICT_CLASS_FINE},
    [VERDICT_PLACED] = {"placed", VERDICT_CLASS_FINE},
    [VERDICT_PROMISED] = {"promised", VERDICT_CLASS_SOON},
    [VERDICT_NOT_READY] = {"not_ready", VERDICT_CLASS_NOT_NOW},
    [VERDICT_NO_QUEUE] = {"no_queue", VERDICT_CLASS_NEVER},
    [VERDICT_QUEUE_NOT_LEAF] = {"queue_not_leaf", VERDICT_CLASS_NEVER},
    [VERDICT_OVER_LIMIT] = {"over_limit", VERDICT_CLASS_NOT_NOW},
    [VERDICT_OVER_QUOTA] = {"over_quota", VERDICT_CLASS_NOT_NOW},
    [VERDICT_OVER_FAIR_SHARE] = {"over_fair_share", VERDICT_CLASS_NOT_NOW},
    [VERDICT_TOO_LARGE] = {"too_large", VERDICT_CLASS_NEVER},
    [VERDICT_NO_NODE_ALLOWED] = {"no_node_allowed", VERDICT_CLASS_NEVER},
    [VERDICT_NO_ROOM] = {"no_room", VERDICT_CLASS_NOT_NOW},
    [VERDICT_NO_VICTIMS] = {"no_victims", VERDICT_CLASS_NOT_NOW},
    [VERDICT_MISSING_VOLUME] = {"missing_volume", VERDICT_CLASS_NEVER},
    [VERDICT_MISSING_CONFIG_MAP] = {"missing_config_map", VERDICT_CLASS_NEVER},
    [VERDICT_MISSING_CLAIM] = {"missing_claim", VERDICT_CLASS_NEVER},
    [VERDICT_NO_TOPOLOGY] = {"no_topology", VERDICT_CLASS_NEVER},
    [VERDICT_TOPOLOGY_FULL] = {"topology_full", VERDICT_CLASS_BY_CHOICE},
    [VERDICT_TOPOLOGY_TOO_SMALL] = {"topology_too_small", VERDICT_CLASS_NEVER},
    [VERDICT_PREEMPTION_DELAY] = {"preemption_delay", VERDICT_CLASS_BY_CHOICE},
    [VERDICT_SEARCH_LIMIT] = {"search_limit", VERDICT_CLASS_BY_CHOICE},
    [VERDICT_QUEUE_DEPTH] = {"queue_depth", VERDICT_CLASS_BY_CHOICE},
};
_Static_assert(ARRAY_LEN(rows) == _VERDICT_CODE_MAX, "every verdict has a row");

const char *verdict_code_name(enum verdict_code code)
{
    return rows[code].name;
}

enum verdict_class verdict_class(enum verdict_code code)
{
    return rows[code].class;
}

const char *verdict_class_name(enum verdict_class class)
{
    static const char *const names[] = {
        [VERDICT_CLASS_FINE] = "fine",           [VERDICT_CLASS_SOON] = "soon",   [VERDICT_CLASS_NOT_NOW] = "not now",
        [VERDICT_CLASS_BY_CHOICE] = "by choice", [VERDICT_CLASS_NEVER] = "never",
    };
    return names[class];
}
