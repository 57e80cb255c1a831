/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Gives back the pages of the program and its libraries. Most were touched once, when the libraries were linked and set
 * themselves up: curl alone brings thirty, of which we use three. What is needed comes again when it is next touched.
 */
void start_pages_drop(void);
