// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes trouble while a command runs, again and again until the time is over:
 *
 *	pester hotplug SECONDS COMMAND [ARGS]
 *	pester nmi SECONDS COMMAND [ARGS]
 *
 * hotplug takes each CPU but the first off and brings it back, in turn and at random
 * moments. nmi has the module tests/module/nmitest.c count system resets, which come
 * from outside (tests/soak).
 *
 * Fails if the command does, or if there was no trouble.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stop;

static void on_term(int sig)
{
	stop = 1;
}

static bool set_online(int cpu, const char *text)
{
	char path[64];
	bool ok;
	int fd;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return false;
	ok = write(fd, text, 1) == 1;
	close(fd);
	return ok;
}

static void wait_us(uint32_t us)
{
	struct timespec ts = { .tv_nsec = us * 1000 };

	nanosleep(&ts, NULL);
}

/* Returns how often a CPU went off. All of them are back then. */
static int hotplug(void)
{
	int cpus = sysconf(_SC_NPROCESSORS_CONF), cpu = 1, done = 0;
	uint32_t seed = 4711;

	while (!stop) {
		seed = seed * 1664525 + 1013904223;
		wait_us(1000 + (seed >> 8) % 200000);
		if (cpus < 2)
			continue;
		done += set_online(cpu, "0");
		wait_us((seed >> 8) % 20000);
		set_online(cpu, "1");
		cpu = cpu % (cpus - 1) + 1;
	}
	return done;
}

/* From now on each system reset is counted. */
static bool load_module(void)
{
	int fd = open("/lab/nmitest.ko", O_RDONLY);
	bool ok;

	ok = fd >= 0 && (!syscall(SYS_finit_module, fd, "", 0) || errno == EEXIST);
	if (!ok)
		perror("nmitest.ko");
	else
		printf("# nmi: ready\n");
	fflush(stdout);
	close(fd);
	return ok;
}

/* Prints how many there were, and where; returns the number. */
static int print_resets(void)
{
	char text[256] = "", *p;
	int fd = open("/sys/module/nmitest/parameters/hits", O_RDONLY), n = 0;

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return 0;
	close(fd);
	printf("# NMIs so far: %s", text);
	for (p = text; *p; p++) {
		if (*p == ' ' && p[1] >= '0' && p[1] <= '9')
			n += atoi(p + 1);
	}
	return n;
}

int main(int argc, char **argv)
{
	int runs = 0, status, fds[2], done = 0;
	pid_t pester, pid;
	char path[256];
	bool nmi;
	time_t end;

	if (argc < 4 || (strcmp(argv[1], "nmi") && strcmp(argv[1], "hotplug"))) {
		fprintf(stderr, "usage: pester hotplug|nmi SECONDS COMMAND [ARGS]\n");
		return 1;
	}
	nmi = !strcmp(argv[1], "nmi");
	if (nmi && !load_module())
		return 1;
	end = time(NULL) + atoi(argv[2]);
	snprintf(path, sizeof(path), "/lab/%s", argv[3]);
	if (pipe(fds))
		return 1;
	pester = nmi ? 0 : fork();
	if (!nmi && !pester) {
		signal(SIGTERM, on_term);
		done = hotplug();
		_exit(write(fds[1], &done, sizeof(done)) < 0);
	}
	do {
		pid = fork();
		if (!pid) {
			execv(path, argv + 3);
			perror(path);
			_exit(127);
		}
		if (waitpid(pid, &status, 0) != pid)
			status = -1;
		runs++;
	} while (!status && time(NULL) < end);
	if (nmi) {
		done = print_resets();
	} else {
		kill(pester, SIGTERM);
		waitpid(pester, NULL, 0);
		close(fds[1]);
		if (read(fds[0], &done, sizeof(done)) != sizeof(done))
			done = 0;
	}
	printf("# %d runs of %s, status %x; trouble %d times\n", runs, argv[3], status, done);
	return status || !done;
}
