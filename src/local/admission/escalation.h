/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

struct request;

/*
 * Nobody gives away rights that they do not have: a Role may contain, and a binding may grant, only what its writer may do
 * in that namespace, unless the writer has the right "escalate" on the role or "bind" on the role that is bound.
 *
 * False after an answer.
 */
bool escalation_check(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old);
