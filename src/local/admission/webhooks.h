/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

struct request;

/*
 * The rules of `muster admission` (services/admission/rules.h), called without HTTP. Which of them are called for which
 * requests, and the names that refusals begin with, are those of deploy/webhooks.yaml, so that users read the same here
 * and in a cluster. A function that returns false has answered.
 */
bool webhooks_change(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old);
bool webhooks_check(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old);
