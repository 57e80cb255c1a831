/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "text/file_replace.h"

/* Files of the state folder, which only their owner may read. */

/* "FOLDER/NAME"; to be freed by the caller. */
char *file_path(const char *folder, const char *name) __attribute__((returns_nonnull));

/* Removes a folder with everything in it; mounted file systems are left alone. 0 when it is gone. */
int folder_remove(const char *path);
