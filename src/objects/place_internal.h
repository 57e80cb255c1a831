/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "text/yaml.h"

struct object;

/*
 * Where in its file the value stands that a message is about. `message` starts with the path of the value, as
 * text/json.h writes it ("spec.nodes[2].name: ..."); when it does not, or leads out of the object, what of it can be
 * followed counts, and at last the object itself. {0, 0} when the object came from JSON.
 */
struct yaml_mark place_of(const struct object *object, const char *message);
