/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

#include "base/macros.h"

struct err;

/* The labels of a workload's objects, beside those of all objects of the console: its project, pool and priority. */
void template_labels(yyjson_mut_doc *doc, yyjson_val *item, yyjson_mut_val *labels);

/* The template of a workload's pods, by its item: metadata and spec. */
MUST_CHECK int template_encode(yyjson_mut_doc *doc, yyjson_val *item, yyjson_mut_val *to, struct err *err);
