/* SPDX-License-Identifier: GPL-2.0-only */
/* CPUs and their idle states, for programs that use ktap.h */
#ifndef LAB_IDLE_H
#define LAB_IDLE_H

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "ktap.h"

#define MAX_STATES	10
#define ALL_STATES	-1
#define SYS_CPU		"/sys/devices/system/cpu/cpu"

static inline uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static inline void pin(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	CHECK(!sched_setaffinity(0, sizeof(one), &one));
}

/* Read a file of a CPU. Return: its length, or -1 if there is no such file */
static inline int read_cpu(char *buf, size_t size, int cpu, const char *name)
{
	char path[128];
	int fd, n;

	snprintf(path, sizeof(path), SYS_CPU "%d/%s", cpu, name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return -1;
	n = read(fd, buf, size - 1);
	close(fd);
	buf[n > 0 ? n : 0] = 0;
	return n;
}

static inline bool write_cpu(int cpu, const char *name, const char *value)
{
	char path[128];
	int fd, n;

	snprintf(path, sizeof(path), SYS_CPU "%d/%s", cpu, name);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return false;
	n = write(fd, value, strlen(value));
	close(fd);
	return n == (int)strlen(value);
}

static inline void state_name(char *buf, size_t size, int state)
{
	char file[64];

	snprintf(file, sizeof(file), "cpuidle/state%d/name", state);
	if (read_cpu(buf, size, 0, file) < 0)
		SKIP("no idle state %d", state);
	buf[strcspn(buf, "\n")] = 0;
}

/* On CPUs 0 to @cpus - 1, enable @state alone, or all states */
static inline void enable_state(int cpus, int state)
{
	char name[64] = "all idle states", file[64];

	if (state != ALL_STATES)
		state_name(name, sizeof(name), state);
	for (int cpu = 0; cpu < cpus; cpu++) {
		for (int s = 0; s < MAX_STATES; s++) {
			snprintf(file, sizeof(file), "cpuidle/state%d/disable", s);
			if (!write_cpu(cpu, file, state == ALL_STATES || s == state ? "0" : "1"))
				break;
		}
	}
	ktap_note("%s", name);
}

#endif /* LAB_IDLE_H */
