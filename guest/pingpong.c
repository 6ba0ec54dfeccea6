// SPDX-License-Identifier: GPL-2.0-only
/*
 * pingpong - two tasks on two CPUs wake each other up, in turn
 *
 *	pingpong STATE CPU CPU
 *
 * Through two pipes. All CPUs use idle state STATE alone, a number, or all of them: "all".
 * Between the markers of bench/bench.h, so that tools/pingpong can count instructions;
 * without the plugin it says how many switches a second there are.
 */
#include "ktap.h"
#include "idle.h"
#include "../bench/bench.h"

#define WINDOWS		40
#define ROUNDS		20
#define ROW		60		/* none of bench/bench.h */

static int there[2], back[2];

static void echo(int cpu)
{
	char c;

	pin(cpu);
	close(there[1]);
	while (read(there[0], &c, 1) == 1)
		CHECK_EQ(write(back[1], &c, 1), 1);
	_exit(0);
}

int main(int argc, char **argv)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN), first, second, status;
	uint64_t start = 0;
	char c = 0;
	pid_t pid;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 4) {
		fprintf(stderr, "pingpong: STATE (a number or all), two CPUs\n");
		return 2;
	}
	first = atoi(argv[2]);
	second = atoi(argv[3]);
	if (first < 0 || second < 0 || first >= cpus || second >= cpus || first == second) {
		fprintf(stderr, "pingpong: %s and %s are not two of %d CPUs\n", argv[2], argv[3],
			cpus);
		return 2;
	}
	enable_state(cpus, strcmp(argv[1], "all") ? atoi(argv[1]) : ALL_STATES);
	CHECK(!pipe(there) && !pipe(back));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		echo(second);
	pin(first);
	for (int w = 0; w <= WINDOWS; w++) {
		if (w)
			bench_start(ROW);
		for (int i = 0; i < ROUNDS; i++) {
			CHECK_EQ(write(there[1], &c, 1), 1);
			CHECK_EQ(read(back[0], &c, 1), 1);
		}
		if (w)
			bench_stop(ROUNDS);
		else
			start = now_ns();
	}
	/* Each round switches to a task and away from it, on both CPUs */
	ktap_note("CPUs %d and %d: %.0f switches a second", first, second,
		  4e9 * WINDOWS * ROUNDS / (now_ns() - start));
	close(there[1]);
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	enable_state(cpus, ALL_STATES);
	return 0;
}
