/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Names and identities of objects. */
enum { NAME_BYTES_MAX = 253, LABEL_NAME_BYTES_MAX = 63, UID_TEXT_MAX = 37 };

/* A name that DNS would take: lower case letters, digits, "-" and ".", a letter or digit at both ends of each part. */
bool name_is_subdomain(const char *name);

/* One part of such a name, of at most 63 bytes: what namespaces are called. */
bool name_is_label(const char *name);

/* A name that can be a part of a path: not "." or "..", no "/" and no "%". Kinds such as roles take any of these. */
bool name_is_path_segment(const char *name);

/* Adds five random characters to the first 58 of `prefix`. */
void name_generate(const char *prefix, char name[static NAME_BYTES_MAX + 1]);

/* A random UUID of version 4. */
void uid_make(char uid[static UID_TEXT_MAX]);
