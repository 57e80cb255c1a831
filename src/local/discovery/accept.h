/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/*
 * The forms in which a client takes an object, out of the header Accept: as it is, as a table for people, or its metadata
 * alone. All are JSON.
 */
enum accept_form {
    ACCEPT_OBJECT,
    ACCEPT_TABLE,
    ACCEPT_TABLE_BETA,  // the same under the name of its first version
    ACCEPT_METADATA,
};

/* For those who take none of the forms that there are. */
#define ACCEPT_NONE_MESSAGE "406: Not Acceptable\n\nAvailable representations: application/json"

/* The first form in the header that there is; NULL stands for any. Returns false when there is none. */
bool accept_form(const char *header, enum accept_form *ret_form);

/* Whether the header prefers aggregated discovery, and of which version: "v2", "v2beta1"; NULL: the old form. */
const char *accept_discovery(const char *header);
