/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

struct request;

/* Creates the object of a document that body_check() has passed, and answers. */
void create_object(struct request *request, yyjson_mut_doc *doc);
