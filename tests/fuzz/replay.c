/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Runs a fuzz target over a folder of inputs and prints TAP: past crashes and the small hand-made corpus are ordinary
 * tests, with any compiler.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/macros.h"
#include "base/mem.h"
#include "fuzz.h"

static void replay(const char *folder, const char *name, int number)
{
    char path[4096];
    _cleanup_(freep) uint8_t *data = NULL;
    long size = -1;

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *in = fopen(path, "rb");
    if (in && fseek(in, 0, SEEK_END) == 0)
        size = ftell(in);
    if (size >= 0) {
        /* Exactly as large as the input, so that the sanitizer sees a read behind its end. */
        data = xmalloc((size_t)size);
        rewind(in);
        size = fread(data, 1, (size_t)size, in) == (size_t)size ? size : -1;
    }
    if (in)
        (void)fclose(in);
    if (size >= 0)
        (void)LLVMFuzzerTestOneInput(data, (size_t)size);
    printf("%s %d - %s\n", size >= 0 ? "ok" : "not ok", number, name);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    struct dirent **entries = NULL;
    int count = argc == 2 ? scandir(argv[1], &entries, is_visible, alphasort) : -1;

    if (count <= 0) {
        (void)fprintf(stderr, "usage: %s FOLDER (with inputs in it)\n", argv[0]);
        return 2;
    }
    printf("1..%d\n", count);
    for (int i = 0; i < count; i++) {
        replay(argv[1], entries[i]->d_name, i + 1);
        (void)fflush(stdout);
        free(entries[i]);
    }
    free(entries);
    return 0;
}
