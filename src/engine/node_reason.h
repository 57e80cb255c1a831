/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "engine/verdict.h"
#include "model/ids.h"

/*
 * What a filter says about a node that fails it, for texts (src/words). A text may name {node} and {pod}, and the members
 * below where the filter fills them in: {over}, {pods}, {claim}.
 */
enum { NODE_REASON_TEXTS_MAX = 8 };

struct node_reason {
    const char *texts[NODE_REASON_TEXTS_MAX];  // each is a reason of its own
    uint32_t text_count;                       // 0: the filter's row has the text
    struct verdict over;                       // the limit or quota that the pod would exceed there
    const pod_id *pods;                        // that stand in the way
    uint32_t pod_count;
    uint32_t claim;  // of the pod that cannot be met there, by id
};
