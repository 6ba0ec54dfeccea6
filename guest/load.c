// SPDX-License-Identifier: GPL-2.0-only
/*
 * load MODULE [PARAMETERS] - load /lab/MODULE.ko, whose job is done while it loads, and
 * unload it. Fails if it does.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char path[128];
	int fd;

	if (argc < 2) {
		fprintf(stderr, "usage: load MODULE [PARAMETERS]\n");
		return 1;
	}
	snprintf(path, sizeof(path), "/lab/%s.ko", argv[1]);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || syscall(__NR_finit_module, fd, argc > 2 ? argv[2] : "", 0)) {
		perror(path);
		return 1;
	}
	if (syscall(__NR_delete_module, argv[1], 0)) {
		perror("delete_module");
		return 1;
	}
	return 0;
}
