/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the workloads (guest/bench.c, the module), the plugin (count.c) and
 * report.c agree on: the two markers and the numbers of the rows.
 *
 * A marker is "twi 0,RA,imm": a trap that never traps (TO = 0). It does
 * nothing on any POWER or PowerPC CPU, it carries 16 bits, and no compiler
 * emits it.
 *
 *	twi 0,1,ROW	start of a window of row ROW: all counts go to zero
 *	twi 0,2,OPS	end of the window, in which OPS operations were done
 */
#ifndef BENCH_H
#define BENCH_H

#define BENCH_MARK		0x0c000000u	/* twi 0,... */
#define BENCH_MARK_START	(BENCH_MARK | 1 << 16)
#define BENCH_MARK_STOP		(BENCH_MARK | 2 << 16)

/* Below it is a kernel's real-mode code; user programs are linked at 256 MiB and above. */
#define BENCH_USER_START	0x10000000ull

#define bench_start(row) asm volatile("twi 0,1,%0" :: "i" (row) : "memory")
#define bench_stop(ops)	 asm volatile("twi 0,2,%0" :: "i" (ops) : "memory")

/*
 * A name is one word. Rows 10 to 15 are run by the module. In rows 11 to 15 the
 * sender is CPU 0; what it executes is a row of its own, BENCH_SENDER higher.
 */
#define BENCH_SENDER	20
#define BENCH_ROWS(R)						\
	R(1,  sc_getppid,    "sc getppid")			\
	R(2,  scv_getppid,   "scv getppid")			\
	R(3,  sc_unknown,    "sc, unknown number")		\
	R(4,  sc_getpgid,    "sc getpgid")			\
	R(5,  fork,          "fork, exit and wait")		\
	R(6,  execve,        "execve (static program)")		\
	R(7,  minor_fault,   "minor fault, anonymous")		\
	R(8,  signal,        "kill(self), handler, sigreturn")	\
	R(9,  timer_user,    "timer interrupt over user code")	\
	R(10, timer_kernel,  "timer interrupt over kernel code")	\
	R(11, ipi_busy,      "IPI to a busy CPU")		\
	R(12, ipi_idle,      "IPI to an idle CPU")		\
	R(13, ipi_broadcast, "broadcast IPI to 3 CPUs")		\
	R(14, ipi_lock,      "the same, each takes a lock")	\
	R(15, ipi_self,      "function call to this CPU")	\
	R(16, pingpong,      "pipe ping-pong, one CPU")		\
	R(17, sc_seccomp,    "sc getppid, a seccomp filter")	\
	R(18, sc_audit,      "sc getppid, an audit rule")	\
	R(19, pingpong_threads, "pipe ping-pong, sibling threads") \
	R(20, pingpong_threads_cede, "  the same without snooze") \
	R(21, pingpong_cores, "pipe ping-pong, two cores") \
	R(22, pingpong_cores_cede, "  the same without snooze") \
	R(31, send_busy,     "  sender: to a busy CPU")		\
	R(32, send_idle,     "  sender: to an idle CPU")	\
	R(33, send_broadcast, "  sender: broadcast")		\
	R(34, send_lock,     "  sender: broadcast, lock")

#endif
