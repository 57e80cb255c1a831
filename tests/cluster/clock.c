/* SPDX-License-Identifier: Apache-2.0 */

/* Put in front of the C library: the wall clock is off by as many seconds as the file $CLOCK_OFFSET_FILE says. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    const char *path = getenv("CLOCK_OFFSET_FILE");
    FILE *file;
    long offset = 0;
    int r;

    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    r = real(clock, now);
    if (r != 0 || clock != CLOCK_REALTIME || !path)
        return r;
    file = fopen(path, "re");
    if (file && fscanf(file, "%ld", &offset) == 1)
        now->tv_sec += offset;
    if (file)
        (void)fclose(file);
    return r;
}
