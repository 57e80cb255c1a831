/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <yyjson.h>

/*
 * What a ControllerRevision stores of a template: a strategic patch that replaces it.
 *
 * A server keeps these bytes as they came, writes them anew for every patch of the object, and refuses the patch when one byte
 * differs, because the data of a revision never change. So they are written as such a server does: members in order of their
 * names, and characters of HTML as escapes.
 */
yyjson_mut_val *revision_data(yyjson_mut_doc *doc, yyjson_val *template);
