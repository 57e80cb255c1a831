/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <yyjson.h>

struct request;

/*
 * What the agent of a joined machine may change of objects that it may write (node_rights.h): of its Node object the status
 * and the labels that describe the machine, so that it cannot draw pods to itself by other labels or take off a taint; of
 * pods the status; events about its node and its pods alone. False after an answer. True for all other senders.
 */
bool node_limits_check(struct request *request, yyjson_mut_doc *doc, yyjson_mut_doc *old);
