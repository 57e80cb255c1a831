/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/vec.h"
#include "local/node/pod/images.h"
#include "local/node/pod/plan.h"
#include "local/node/pod/users.h"

struct texts VEC_OF(char *);

/* The plan of one container, in the making. */
struct planning {
    const struct plan_request *request;
    yyjson_mut_doc *doc;
    yyjson_mut_val *plan, *mounts;
    yyjson_val *container;
    struct user user;
    struct image image;
    struct texts extra;  // variables that tell the program where things are: NAME, value, ...
};

void planning_tell(struct planning *planning, const char *name, const char *value);

/* What the container sees at other paths: volumes, the message of its end, and in an image the machine's names of hosts. */
MUST_CHECK int planning_mounts(struct planning *planning, struct err *err);
