/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* What the libraries of functions share. */

#include "cel/core.h"

#define DURATION "google.protobuf.Duration"
#define TIMESTAMP "google.protobuf.Timestamp"

/* The first second of the year 1 and the last one of 9999. */
#define TIME_MIN (-62135596800LL)
#define TIME_MAX 253402300799LL

/* The value as string() gives it. */
struct cel_value value_to_text(struct run *run, struct cel_value value);
struct cel_value add_to_timestamp(struct run *run, struct cel_value time, struct cel_value duration);
struct cel_value subtract_from_timestamp(struct run *run, struct cel_value time, struct cel_value other);
