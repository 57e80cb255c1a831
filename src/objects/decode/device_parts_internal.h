/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "model/delta.h"
#include "objects/fields.h"

/* What slices, claims and classes are read by alike. All of it lies in the arena or is borrowed from the document. */

/* A list of quantities, a map of names to quantities, or one to objects that have one as the member `value`. */
MUST_CHECK int device_amounts_decode(struct arena *arena, const struct json_at *map, const char *value,
                                     const struct device_amount **ret_amounts, size_t *ret_count, struct err *err);

/* None for an effect that is not known: it keeps nobody away, as in Kubernetes. */
enum device_effect device_effect_of(const char *text);

/* The member `selectors`: expressions in CEL. */
MUST_CHECK int device_selectors_decode(struct arena *arena, const struct json_at *at, const char *const **ret_selectors,
                                       size_t *ret_count, struct err *err);

/* The member `config`. */
MUST_CHECK int device_configs_decode(struct arena *arena, const struct json_at *at,
                                     const struct device_config **ret_configs, size_t *ret_count, struct err *err);

/* What a ResourceClaimSpec's `devices` asks for. */
MUST_CHECK int claim_ask_decode(struct arena *arena, const struct json_at *devices, struct claim_ask *ret_ask,
                                struct err *err);
