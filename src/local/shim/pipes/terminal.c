/* SPDX-License-Identifier: Apache-2.0 */
#include "local/shim/pipes/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/err.h"
#include "local/controllers/values.h"
#include "text/json.h"

enum { SIDE_MAX = 65535 };

int terminal_open(uid_t uid, int *ret_master, int *ret_slave, struct err *err)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    char name[64];
    int slave = -1;

    if (master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0 && ptsname_r(master, name, sizeof name) == 0)
        slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave < 0) {
        int code = errno ? -errno : -EIO;

        if (master >= 0)
            (void)close(master);
        return err_set(err, code, "a terminal: %s", strerror(-code));
    }
    if (geteuid() == 0)
        (void)!fchown(slave, uid, (gid_t)-1);
    *ret_master = master;
    *ret_slave = slave;
    return 0;
}

void terminal_resize(int master, const char *text, size_t len)
{
    _cleanup_(json_doc_freep) yyjson_doc *doc = NULL;

    if (master < 0 || json_parse(text, len, "size", &doc, NULL) < 0)
        return;
    yyjson_val *root = yyjson_doc_get_root(doc);
    int64_t width = number_at(root, 0, "Width"), height = number_at(root, 0, "Height");
    if (width <= 0 || height <= 0 || width > SIDE_MAX || height > SIDE_MAX)
        return;
    const struct winsize size = {.ws_col = (unsigned short)width, .ws_row = (unsigned short)height};
    (void)ioctl(master, TIOCSWINSZ, &size);
}
