/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "model/shapes/shape.h"

struct node;
struct taint;

/* Are all of the node's taints with this effect tolerated? */
bool taints_tolerated(const struct node *node, const struct constraints *constraints, enum taint_effect effect);

/* The first taint of the node that keeps the pod away, NULL when none does. */
const struct taint *taints_first_untolerated(const struct node *node, const struct constraints *constraints);
