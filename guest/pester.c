// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes each CPU but the first off and brings it back, in turn and at random moments,
 * while a command runs, again and again until the time is over:
 *
 *	pester SECONDS COMMAND [ARGS]
 *
 * Fails if the command does, or if no CPU could be taken off.
 */

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

int main(int argc, char **argv)
{
	int runs = 0, status, fds[2], done = 0;
	pid_t pester, pid;
	char path[256];
	time_t end;

	if (argc < 3) {
		fprintf(stderr, "usage: pester SECONDS COMMAND [ARGS]\n");
		return 1;
	}
	end = time(NULL) + atoi(argv[1]);
	snprintf(path, sizeof(path), "/lab/%s", argv[2]);
	if (pipe(fds))
		return 1;
	pester = fork();
	if (!pester) {
		signal(SIGTERM, on_term);
		done = hotplug();
		_exit(write(fds[1], &done, sizeof(done)) < 0);
	}
	do {
		pid = fork();
		if (!pid) {
			execv(path, argv + 2);
			perror(path);
			_exit(127);
		}
		if (waitpid(pid, &status, 0) != pid)
			status = -1;
		runs++;
	} while (!status && time(NULL) < end);
	kill(pester, SIGTERM);
	waitpid(pester, NULL, 0);
	close(fds[1]);
	if (read(fds[0], &done, sizeof(done)) != sizeof(done))
		done = 0;
	printf("# %d runs of %s, status %x; CPUs went off %d times\n", runs, argv[2], status, done);
	return status || !done;
}
