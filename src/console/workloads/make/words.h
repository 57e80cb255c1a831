/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

#include "base/macros.h"

struct err;

/*
 * A command line as a list of words, as a shell splits it: at spaces, with '...', "..." and \ to keep them. Nothing is
 * expanded: "$HOME" stays as it is. -EINVAL when a quote is not closed or there are too many words.
 */
MUST_CHECK int words_split(yyjson_mut_doc *doc, const char *text, yyjson_mut_val **ret_list, struct err *err);
