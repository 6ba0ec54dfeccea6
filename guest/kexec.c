// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starts another kernel in place of this one:
 *
 *	kexec [storm] [crash] VMLINUX INITRD PARAMETER...
 *
 * It gets this kernel's parameters and then these; of those given twice the last one
 * counts. Does not return if all goes well.
 *
 *	storm	all CPUs send IPIs meanwhile (/lab/ipitest.ko)
 *	crash	this kernel crashes (sysrq-c), and that is what starts the other one; takes
 *		crashkernel=
 */

#include <fcntl.h>
#include <linux/kexec.h>
#include <linux/reboot.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool load_storm(void)
{
	int fd = open("/lab/ipitest.ko", O_RDONLY);

	return fd >= 0 && !syscall(SYS_finit_module, fd, "storm=32", 0);
}

int main(int argc, char **argv)
{
	bool storm, crash;
	char line[4096] = "";
	int kernel, initrd, fd, i;
	ssize_t n;

	storm = argc > 1 && !strcmp(argv[1], "storm");
	argc -= storm;
	argv += storm;
	crash = argc > 1 && !strcmp(argv[1], "crash");
	argc -= crash;
	argv += crash;
	if (argc < 3) {
		fprintf(stderr, "usage: kexec [storm] [crash] VMLINUX INITRD PARAMETER...\n");
		return 1;
	}
	kernel = open(argv[1], O_RDONLY);
	initrd = open(argv[2], O_RDONLY);
	fd = open("/proc/cmdline", O_RDONLY);
	n = read(fd, line, sizeof(line) / 2);
	if (kernel < 0 || initrd < 0 || n <= 0) {
		perror("kexec: files");
		return 1;
	}
	line[strcspn(line, "\n")] = 0;
	for (i = 3; i < argc; i++) {
		strncat(line, " ", sizeof(line) - strlen(line) - 1);
		strncat(line, argv[i], sizeof(line) - strlen(line) - 1);
	}
	if (syscall(SYS_kexec_file_load, kernel, initrd, strlen(line) + 1, line,
		    crash ? KEXEC_FILE_ON_CRASH : 0)) {
		perror("kexec: kexec_file_load");
		return 1;
	}
	if (storm && !load_storm()) {
		perror("kexec: ipitest.ko");
		return 1;
	}
	printf("# kexec: goes on with %s\n", line);
	fflush(stdout);
	sleep(1);	/* init prints it */
	if (crash) {
		fd = open("/proc/sysrq-trigger", O_WRONLY);
		n = write(fd, "c", 1);
		perror("kexec: sysrq-trigger");
		return 1;
	}
	syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2,
		LINUX_REBOOT_CMD_KEXEC, NULL);
	perror("kexec: reboot");
	return 1;
}
