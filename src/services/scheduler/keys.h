/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>
#include <string.h>

#include "base/intern.h"
#include "model/state.h"

/*
 * Objects are known to the scheduler by namespace and name, as one number: the model's names, which are never given back,
 * so that a key stays good when the object's id in the state does not.
 */
typedef uint64_t object_key;

static inline name_id name_put(struct state *state, const char *text)
{
    return intern_id(&state->names, text, strlen(text));
}

static inline object_key key_of(name_id namespace, name_id name)
{
    return (uint64_t)namespace << 32 | name;
}

static inline object_key key_put(struct state *state, const char *namespace, const char *name)
{
    return key_of(name_put(state, namespace), name_put(state, name));
}

static inline const char *key_namespace(const struct state *state, object_key key)
{
    return state_name(state, (name_id)(key >> 32));
}

static inline const char *key_name(const struct state *state, object_key key)
{
    return state_name(state, (name_id)key);
}

static inline pod_id key_pod(const struct state *state, object_key key)
{
    uint64_t id = NO_ID;

    return map64_get(&state->pod_by_name, key, &id) && state->pods.items[id].is_present ? (pod_id)id : NO_ID;
}

static inline gang_id key_gang(const struct state *state, object_key key)
{
    uint64_t id = NO_ID;

    return map64_get(&state->gang_by_name, key, &id) && state->gangs.items[id].is_present ? (gang_id)id : NO_ID;
}
