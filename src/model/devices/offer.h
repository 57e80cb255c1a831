/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What slices say of devices and what claims and classes ask of them, as resource.k8s.io has it. These structs are both
 * parts of specs (model/delta.h), borrowed for the call, and what the state keeps: there, all texts are those of
 * state->names, so that equal texts are equal pointers.
 */
struct selector;
struct selector_spec;

enum attribute_kind { ATTRIBUTE_INT, ATTRIBUTE_BOOL, ATTRIBUTE_STRING, ATTRIBUTE_VERSION, _ATTRIBUTE_KIND_MAX };

/* `name` may begin with a domain; without one the driver's name is its domain. */
struct device_attribute {
    const char *name;
    enum attribute_kind kind;
    int64_t integer;            // also of a boolean
    const char *text;           // of a string or version
    const char *const *values;  // of a list, each as text: "7", "true"; none: it is one value
    size_t value_count;
};

/* A quantity: as it was written, and its value with billionths. */
struct device_amount {
    const char *name;
    const char *text;
    int64_t whole;
    int32_t nano;
};

/*
 * What claims may take of one capacity of a device that they share. Amounts with no text are not set. What is asked for is
 * rounded up: to the next of `values`, or to `min` and steps above it.
 */
struct capacity_policy {
    const char *name;               // of the capacity
    struct device_amount fallback;  // taken where nothing is asked for; not set: all there is
    struct device_amount min;       // set: there is a range
    struct device_amount max;
    struct device_amount step;
    const struct device_amount *values;  // in ascending order
    size_t value_count;
};

/* Counters that devices of a pool share, or what a device takes of one set of them. */
struct counter_set {
    const char *name;
    const struct device_amount *counters;
    size_t counter_count;
};

enum device_effect { DEVICE_EFFECT_NONE, DEVICE_EFFECT_NO_SCHEDULE, DEVICE_EFFECT_NO_EXECUTE, _DEVICE_EFFECT_MAX };

struct device_taint {
    const char *key;
    const char *value;
    enum device_effect effect;
};

/* Which nodes can use a device. One of the terms must match. */
struct node_reach {
    const char *node;  // NULL or "": none by name
    bool is_for_all_nodes;
    const struct selector_spec *terms;
    size_t term_count;
    /* Filled in by the state: the terms again, ready to be matched. */
    const struct selector *selectors;
    size_t selector_count;
};

struct device_offer {
    const struct device_attribute *attributes;
    size_t attribute_count;
    const struct device_amount *capacity;
    size_t capacity_count;
    const struct counter_set *consumes;
    size_t consume_count;
    const struct device_taint *taints;
    size_t taint_count;
    struct node_reach reach;        // where the slice leaves it to its devices
    bool allows_multiple;           // claims may share it
    bool binds_to_node;             // a claim that has it can be used on the node that it was allocated for alone
    const char *const *conditions;  // that have to be true before a pod is bound
    size_t condition_count;
    const char *const *failures;  // that end the attempt
    size_t failure_count;
    const struct capacity_policy *policies;  // of capacities that have one
    size_t policy_count;
};

struct device_toleration {
    const char *key;  // NULL or "" with `exists`: every taint
    const char *value;
    bool exists;
    bool any_effect;
    enum device_effect effect;
    bool has_seconds;  // for so long are pods left alone that have the device when it is tainted
    int64_t seconds;
};

/* Devices of one class that meet all selectors: a number of them, or all there are. */
struct device_ask {
    const char *name;       // of a sub-request; NULL or "" of a request that has none
    const char *full_name;  // filled in by the state: "request" or "request/sub-request"
    const char *device_class;
    const char *const *selectors;
    size_t selector_count;
    bool is_all;
    int64_t count;
    bool is_admin;  // looks at devices that others use
    const struct device_toleration *tolerations;
    size_t toleration_count;
    const struct device_amount *capacity;
    size_t capacity_count;
};

/* The first of `asks` that can be had is. */
struct device_request {
    const char *name;
    const struct device_ask *asks;
    size_t ask_count;
};

/* Devices for these requests (none: for all) have the same value of the attribute, or all have different ones. */
struct device_constraint {
    const char *const *requests;
    size_t request_count;
    const char *attribute;
    bool is_distinct;
};

/* What a driver is to be told. */
struct device_config {
    const char *const *requests;  // none: all
    size_t request_count;
    const char *text;  // a DeviceConfiguration in JSON
};

struct claim_ask {
    const struct device_request *requests;
    size_t request_count;
    const struct device_constraint *constraints;
    size_t constraint_count;
    const struct device_config *configs;
    size_t config_count;
};
