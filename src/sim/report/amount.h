/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "text/quantity.h"

/* Amounts of CPU, memory and GPUs for JSON, as Kubernetes names and writes them. `share` is SHARE_*. */
const char *amount_key(int share);  // "cpu", "memory", "gpu"

/* A quantity such as "1500m" or "64Gi"; "unlimited" for a negative amount. Returns `text`. */
const char *amount_format(int share, double amount, char text[static QUANTITY_TEXT_MAX]);
