/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "local/controllers/controller.h"

/*
 * An owner adopts objects that its selector matches and that have no controller, and releases children that it does not
 * match any more, such as a pod whose label somebody removed to look into it.
 *
 * Neither orphans nor the labels of children are kept: they would be most of the memory. What is kept is that an owner
 * needs a review, in which it lists what it selects: when it is first seen, when its selector changes, and when an object
 * shows up that it selects and does not have, or the other way round.
 */

/* Starts the review of an owner that needs one. Returns true while the owner must not be looked at otherwise: its children
 * are about to change. */
bool adoption_start(struct owner *owner);

/* Of the controller: an owner was seen, as it was before or NULL; an object without a controller; a child. */
void adoption_put_owner(struct owner *owner, yyjson_val *before);
void adoption_put_orphan(struct controller *controller, yyjson_val *object);
void adoption_put_child(struct child *child, yyjson_val *object);

void adoption_drop_owner(struct owner *owner);
