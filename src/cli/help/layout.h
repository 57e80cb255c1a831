/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Help fits the terminal that it is printed on. In files and pipes every entry is one line, and texts keep their lines. */

/* Prints `lead` and a text, whose further lines begin below its first one. */
void help_line(const char *lead, const char *text);

/* Prints an entry of a list: `names` and beside it, from `column` on, a text that may take several lines. Names that are longer have
 * a line of their own. */
void help_entry(const char *names, int column, const char *text);

/* Prints a text of paragraphs and lists. A line that begins with a space is an entry of a list: two spaces within it part
 * its names from its text. */
void help_paragraphs(const char *text);
