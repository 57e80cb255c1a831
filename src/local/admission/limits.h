/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

struct request;

/*
 * What only administrators may ask of pods, which labels and annotations only Muster's services write, and which queues are
 * for others. It is the user
 * of an object that counts, and not its sender: the pods of a Job are created by a controller. Templates are checked like
 * pods, so that users are refused when they create a Job, and not its controller later.
 *
 * False after an answer.
 */
bool limits_check(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old);
