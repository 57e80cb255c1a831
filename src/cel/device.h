/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cel/cel.h"

/*
 * Selectors of devices, as resource.k8s.io has them: expressions over one variable, `device`, with the name of its driver,
 * attributes and capacities by domain, and whether several claims may share it.
 */
enum device_lists { DEVICE_LISTS_OFF, DEVICE_LISTS_ON };

/* With lists, an attribute may be one, as where Kubernetes has the gate DRAListTypeAttributes on. */
struct cel_env *device_env_new(enum device_lists lists);

/* Compiles a selector. -EINVAL when it is wrong, or cannot be true or false. */
MUST_CHECK int device_selector_compile(const struct cel_env *env, const char *expression,
                                       struct cel_program **ret_selector, struct err *err);

/* A device being described. All of it lies in the arena, and texts are borrowed. */
struct device_value {
    struct arena *arena;
    const char *driver;
    struct cel_map *attributes;
    struct cel_map *capacity;
};

void device_value_init(struct device_value *device, struct arena *arena, const char *driver);

/* `name` may begin with a domain, as in "gpu.example.com/model"; without one the driver's name is its domain. */
void device_value_attribute(struct device_value *device, const char *name, struct cel_value value);
void device_value_capacity(struct device_value *device, const char *name, struct cel_value quantity);

/* The value of `device` for cel_eval(). */
struct cel_value device_value_finish(struct device_value *device, bool allows_multiple);

/*
 * Does the device meet the selector? An error of the expression is -EINVAL, with the reason in `err`: a device that cannot
 * be judged must not be handed out.
 */
MUST_CHECK int device_matches(const struct cel_program *selector, struct cel_value device, bool *ret_does_match,
                              struct err *err);
