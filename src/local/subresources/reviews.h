/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct api_kind;

/* Kinds that are asked and not stored: who the client is, and what it may do. NULL past the last one. */
const struct api_kind *review_kind_at(size_t index);
bool review_is_kind(const struct api_kind *kind);
