// SPDX-License-Identifier: GPL-2.0-only
/*
 * bad - a test that goes wrong as it is told, so that tests/init can see what
 * init makes of it
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void hang(void)
{
	/* Deaf to everything but SIGKILL, and in a session of its own. */
	for (int sig = 1; sig < 32; sig++)
		signal(sig, sig == SIGCHLD ? SIG_DFL : SIG_IGN);
	setsid();
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "exit")) {
		return atoi(argv[2]);
	} else if (!strcmp(what, "segv")) {
		raise(SIGSEGV);
	} else if (!strcmp(what, "hang")) {
		printf("hanging\n");
		fflush(stdout);
		fork();
		hang();
	} else if (!strcmp(what, "orphan")) {
		if (!fork())
			hang();
		return 0;
	} else if (!strcmp(what, "flood")) {
		for (;;)
			printf("flood\n");
	} else if (!strcmp(what, "line")) {
		printf("a line without an end");
		return 0;
	} else if (!strcmp(what, "kernel")) {
		/* The kernel crashes on sysrq c. */
		int fd = open("/proc/sysrq-trigger", O_WRONLY);

		return fd < 0 || write(fd, "c", 1) != 1;
	}
	fprintf(stderr, "usage: bad exit N|segv|hang|orphan|flood|line|kernel\n");
	return 1;
}
