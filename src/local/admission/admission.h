/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

struct request;

/*
 * Admission: between the defaults of an object and its storage, in the order of a Kubernetes API server. All rules are
 * called in the process, also those that clusters call as webhooks. A function that returns false has answered.
 */

/* Changes the object as the rules ask for it. `old` is the object that is replaced, NULL for a new one. */
bool admit_changes(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old);

/* The same for a write of the status alone: the object stays whose it was. False after an answer. */
bool admit_status(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old);

/* Refuses objects; they are as they will be stored. */
bool admit_checks(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old);
