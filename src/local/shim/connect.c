/* SPDX-License-Identifier: Apache-2.0 */
#include "local/shim/connect.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "local/shim/shim.h"

int shim_connect(const char *folder)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int fd = dir < 0 ? -1 : socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    (void)snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/" POD_SOCKET, dir);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) < 0) {
        (void)close(fd);
        fd = -1;
    }
    if (dir >= 0)
        (void)close(dir);
    return fd;
}
