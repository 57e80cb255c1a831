/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * The plugins, a row each: PLUGIN_<id>, its name in KAI's configuration, what reads its arguments (config.c; NULL: it
 * takes none), and whether it is on by default. New rows go to the end: journals count them.
 *
 * The last three go beyond KAI: topologySpreadConstraints, preferred node affinity, and taints with PreferNoSchedule.
 */
#define PLUGINS(ROW)                                                   \
    ROW(PREDICATES, "predicates", NULL, true)                          \
    ROW(PROPORTION, "proportion", proportion_argument, true)           \
    ROW(PRIORITY, "priority", NULL, true)                              \
    ROW(ELASTIC, "elastic", NULL, true)                                \
    ROW(KUBEFLOW, "kubeflow", NULL, true)                              \
    ROW(RAY, "ray", NULL, true)                                        \
    ROW(NODE_AVAILABILITY, "nodeavailability", NULL, true)             \
    ROW(GPU_SHARING_ORDER, "gpusharingorder", NULL, true)              \
    ROW(GPU_PACK, "gpupack", NULL, true)                               \
    ROW(GPU_SPREAD, "gpuspread", NULL, false)                          \
    ROW(RESOURCE_TYPE, "resourcetype", NULL, true)                     \
    ROW(SUBGROUP_ORDER, "subgrouporder", NULL, true)                   \
    ROW(TASK_ORDER, "taskorder", NULL, true)                           \
    ROW(NOMINATED_NODE, "nominatednode", NULL, true)                   \
    ROW(DYNAMIC_RESOURCES, "dynamicresources", devices_argument, true) \
    ROW(NODE_PLACEMENT, "nodeplacement", placement_argument, true)     \
    ROW(MIN_RUNTIME, "minruntime", runtime_argument, true)             \
    ROW(TOPOLOGY, "topology", NULL, true)                              \
    ROW(SNAPSHOT, "snapshot", NULL, true)                              \
    ROW(NODE_LOCAL_GREEDY, "sg-nodelocalgreedy", NULL, true)           \
    ROW(MULTI_NODE_GANG, "sg-multinodegang", NULL, true)               \
    ROW(POD_AFFINITY, "podaffinity", NULL, false)                      \
    ROW(NUMA, "numa", NULL, false)                                     \
    ROW(TOPOLOGY_SPREAD, "podtopologyspread", NULL, false)             \
    ROW(PREFERRED_NODES, "preferrednodeaffinity", NULL, false)         \
    ROW(SOFT_TAINTS, "softtaints", NULL, false)
