/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "model/delta.h"
#include "model/retell/retell.h"
#include "model/shapes/labels.h"
#include "model/tap.h"

/* What the files that copy a state share. */
struct copier {
    const struct state *from;
    delta_fn fn;  // is told every object
    void *arg;
    const struct retell_change *change;
    bool keeps_fresh;      // shared GPUs without a name go on without one
    struct arena scratch;  // what one spec points to
};

const char *copy_name(const struct copier *c, name_id name);
const char *copy_node_name(const struct copier *c, node_id node);  // "" for none
struct str_pair *copy_labels(struct copier *c, labels_id id, size_t *ret_count);
const char *const *copy_names(struct copier *c, const name_id *names, uint32_t count);
struct selector_spec *copy_selectors(struct copier *c, const struct selector *selectors, uint32_t count);

/* Amounts of all dimensions that are not 0 (or, with `keeps_zero`, not -1), pods and GPUs among them. */
struct amount_spec *copy_amounts(struct copier *c, const int64_t *v, uint32_t count, bool keeps_zero,
                                 size_t *ret_count);

void copy_claims(struct copier *c);
void copy_volumes(struct copier *c);
void copy_gangs(struct copier *c);
void copy_pods(struct copier *c);
void copy_constraints(struct copier *c, const struct constraints *from, struct constraints_spec *to);

/* What was in a state can be put into one. */
void retell_put(void *state, const struct delta *delta);

/* Tells one object. */
void copy_say(const struct copier *c, enum delta_kind kind, const void *spec);
