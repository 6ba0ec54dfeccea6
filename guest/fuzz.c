// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random system calls with random registers, by sc and by scv:
 *
 *	fuzz [SEED [CHUNKS [FIRST]]]
 *
 * A chunk is 40 calls in a process of their own, made twice from the same state. What
 * came of them, errno or success for each, is hashed, and a line a chunk is printed:
 * "same", with the hash, or "differs", if the two did not agree, which time and
 * scheduling can bring about. A chunk that is "same" on two kernels must have the same
 * hash; tests/soak compares. With CHUNKS 1 each call is printed: fuzz SEED 1 CHUNK.
 *
 * Calls that would end the machine or the test, wait, or lead signals and memory
 * elsewhere are left out, see harmful[].
 */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CALLS		40
#define NUMBERS		470	/* of 6.12, and a few that are none yet */
#define SCRATCH		0x10000
#define CHUNK_SECONDS	3

#ifndef PPC_FEATURE2_SCV
#define PPC_FEATURE2_SCV 0x00100000
#endif

static const short harmful[] = {
	/* the end of the process, of others, or of the machine */
	SYS_exit, SYS_exit_group, SYS_kill, SYS_tkill, SYS_tgkill, SYS_rt_sigqueueinfo,
	SYS_rt_tgsigqueueinfo, SYS_pidfd_send_signal, SYS_reboot, SYS_kexec_load,
	SYS_kexec_file_load, SYS_init_module, SYS_finit_module, SYS_delete_module,
	SYS_seccomp, SYS_prctl, SYS_ptrace, SYS_rtas, SYS_syslog, SYS_vhangup,
	/* copies of the process, which would go on fuzzing */
	SYS_fork, SYS_vfork, SYS_clone, SYS_clone3, SYS_execve, SYS_execveat,
	/* its registers, signals and memory */
	SYS_sigreturn, SYS_rt_sigreturn, SYS_swapcontext, SYS_rseq, SYS_switch_endian,
	SYS_signal, SYS_sigaction, SYS_rt_sigaction, SYS_sigaltstack, SYS_alarm,
	SYS_setitimer, SYS_timer_create, SYS_set_robust_list, SYS_set_tid_address,
	SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_pkey_mprotect, SYS_brk,
	SYS_madvise, SYS_process_madvise, SYS_remap_file_pages, SYS_shmat, SYS_shmdt,
	SYS_subpage_prot, SYS_userfaultfd, SYS_process_vm_writev, SYS_mlockall,
	SYS_personality, 453 /* map_shadow_stack */, 462 /* mseal */,
	/* time, priorities and limits of everything */
	SYS_stime, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime,
	SYS_setrlimit, SYS_prlimit64, SYS_nice, SYS_setpriority, SYS_sched_setscheduler,
	SYS_sched_setparam, SYS_sched_setattr, SYS_sched_setaffinity, SYS_ioprio_set,
	SYS_swapon, SYS_swapoff, SYS_acct, SYS_unshare, SYS_setns, SYS_chroot,
	SYS_pivot_root, SYS_umount, SYS_umount2, SYS_mount, SYS_move_mount,
	SYS_mount_setattr, SYS_sethostname, SYS_setdomainname, SYS_bpf, SYS_quotactl,
	/* may wait */
	SYS_pause, SYS_sigsuspend, SYS_rt_sigsuspend, SYS_rt_sigtimedwait, SYS_nanosleep,
	SYS_clock_nanosleep, SYS_select, SYS__newselect, SYS_pselect6, SYS_poll,
	SYS_ppoll, SYS_epoll_wait, SYS_epoll_pwait, SYS_epoll_pwait2, SYS_futex,
	SYS_futex_waitv, SYS_pipe, SYS_pipe2, SYS_socketpair, SYS_socketcall,
	SYS_socket, SYS_accept, SYS_accept4, SYS_recv, SYS_recvfrom, SYS_recvmsg,
	SYS_recvmmsg, SYS_eventfd, SYS_eventfd2, SYS_timerfd_create, SYS_signalfd,
	SYS_signalfd4, SYS_inotify_init, SYS_inotify_init1, SYS_fanotify_init,
	SYS_msgrcv, SYS_msgsnd, 392 /* semtimedop */, SYS_ipc, SYS_mq_timedreceive,
	SYS_mq_timedsend, SYS_flock, SYS_fcntl, SYS_wait4, SYS_waitid, SYS_waitpid,
	SYS_sync, SYS_syncfs, SYS_io_getevents, SYS_io_pgetevents, SYS_membarrier,
	SYS_perf_event_open, SYS_sendfile, SYS_splice, SYS_copy_file_range,
	/* different from one call to the next by nature */
	SYS_getrandom, SYS_getcpu,
	/* of other processes, and which there are is not always the same */
	SYS_sched_rr_get_interval, SYS_sched_getparam, SYS_sched_getscheduler,
	SYS_sched_getaffinity, SYS_sched_getattr, SYS_getpgid, SYS_getsid, SYS_setpgid,
	SYS_getpriority, SYS_process_vm_readv, SYS_move_pages, SYS_migrate_pages,
	SYS_kcmp, SYS_get_robust_list, SYS_pidfd_open, SYS_pidfd_getfd, SYS_ioprio_get,
	SYS_capget, SYS_process_mrelease,
};

/* What the two processes of a chunk did, in memory that they share with the parent */
struct record {
	uint32_t done;
	struct result {
		uint64_t nr;
		int16_t error;
		bool scv;
	} call[CALLS];
};

static struct record *records;
static unsigned char *scratch;
static bool have_scv;

static uint64_t random64(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* Returns r3, or -errno as both instructions mean it. */
static long make_call(bool scv, unsigned long nr, const unsigned long *arg)
{
	register unsigned long r0 asm("r0") = nr;
	register unsigned long r3 asm("r3") = arg[0];
	register unsigned long r4 asm("r4") = arg[1];
	register unsigned long r5 asm("r5") = arg[2];
	register unsigned long r6 asm("r6") = arg[3];
	register unsigned long r7 asm("r7") = arg[4];
	register unsigned long r8 asm("r8") = arg[5];

	if (scv)
		asm volatile(".long 0x44000001"
			     : "+r" (r0), "+r" (r3), "+r" (r4), "+r" (r5), "+r" (r6),
			       "+r" (r7), "+r" (r8)
			     : : "r9", "r10", "r11", "r12", "lr", "ctr", "xer", "cr0",
			       "cr1", "cr5", "cr6", "cr7", "memory");
	else
		asm volatile("sc; bns+ 1f; neg 3,3; 1:"
			     : "+r" (r0), "+r" (r3), "+r" (r4), "+r" (r5), "+r" (r6),
			       "+r" (r7), "+r" (r8)
			     : : "r9", "r10", "r11", "r12", "ctr", "xer", "cr0", "memory");
	return r3;
}

static unsigned long random_number(uint64_t *seed)
{
	unsigned long nr;
	unsigned int i;

	if (random64(seed) % 16 == 0) {
		nr = random64(seed);
		return nr < NUMBERS ? nr + NUMBERS : nr;
	}
again:
	nr = random64(seed) % NUMBERS;
	for (i = 0; i < sizeof(harmful) / sizeof(harmful[0]); i++) {
		if (harmful[i] == (short)nr)
			goto again;
	}
	return nr;
}

static unsigned long random_argument(uint64_t *seed)
{
	uint64_t r = random64(seed);

	switch (r >> 8 & 7) {
	case 0:	return r >> 32 & 7;
	case 1:	return r >> 32 & 0xffff;
	case 2:	return r;
	case 3:	return -(r >> 32 & 0xfff);
	case 4:	return 1UL << (r >> 32) % (8 * sizeof(long));
	default: return (unsigned long)scratch + (r >> 32) % (SCRATCH + 16);
	}
}

static void do_chunk(struct record *rec, uint64_t seed)
{
	unsigned long arg[6];
	int i, k, fd;

	signal(SIGPIPE, SIG_IGN);
	for (fd = 0; fd < 3; fd++)
		dup2(open("/dev/null", O_RDWR), fd);
	for (fd = 3; fd < 64; fd++)
		close(fd);
	for (i = 0; i < CALLS; i++) {
		bool scv = random64(&seed) & have_scv;
		unsigned long nr = random_number(&seed);
		long r3;

		for (k = 0; k < 6; k++)
			arg[k] = random_argument(&seed);
		/* what the kernel left there is not always the same */
		for (k = 0; k < SCRATCH; k += 8)
			*(uint64_t *)(scratch + k) = k % 64 ? random64(&seed) & 0xff : 0;
		rec->call[i].nr = nr;
		rec->call[i].scv = scv;
		rec->done = i + 1;
		r3 = make_call(scv, nr, arg);
		rec->call[i].error = r3 < 0 && r3 >= -4095 ? r3 : 0;
	}
	_exit(0);
}

static int run_chunk(struct record *rec, uint64_t seed)
{
	struct timespec moment = { .tv_nsec = 2000000 };
	int status, tries;
	pid_t pid;

	memset(rec, 0, sizeof(*rec));
	pid = fork();
	if (!pid)
		do_chunk(rec, seed);
	if (pid < 0)
		return -1;
	for (tries = 0; tries < CHUNK_SECONDS * 500; tries++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		nanosleep(&moment, NULL);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return -1;
}

static uint32_t hash(uint32_t h, const void *data, size_t size)
{
	const unsigned char *p = data;

	while (size--)
		h = (h ^ *p++) * 16777619;
	return h;
}

static uint32_t hash_record(const struct record *rec, int status)
{
	uint32_t h = hash(2166136261U, &status, sizeof(status));
	unsigned int i;

	for (i = 0; i < rec->done; i++) {
		h = hash(h, &rec->call[i].nr, sizeof(rec->call[i].nr));
		h = hash(h, &rec->call[i].error, sizeof(rec->call[i].error));
	}
	return h;
}

int main(int argc, char **argv)
{
	unsigned long seed = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
	int chunks = argc > 2 ? atoi(argv[2]) : 200;
	int first = argc > 3 ? atoi(argv[3]) : 0;
	int i, k, status[2], same = 0;
	uint64_t chunk_seed;
	uint32_t h[2];

	/* addresses are results */
	if (!(personality(0xffffffff) & ADDR_NO_RANDOMIZE) &&
	    personality(personality(0xffffffff) | ADDR_NO_RANDOMIZE) >= 0)
		execv("/proc/self/exe", argv);
	have_scv = getauxval(AT_HWCAP2) & PPC_FEATURE2_SCV;
	records = mmap(NULL, 2 * sizeof(*records), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	scratch = mmap((void *)0x20000000, SCRATCH, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (records == MAP_FAILED || scratch == MAP_FAILED)
		return 1;
	mkdir("/tmp/fuzz", 0700);
	if (chdir("/tmp/fuzz"))
		return 1;
	printf("# seed %lu, %d chunks of %d calls\n", seed, chunks, CALLS);
	for (i = first; i < first + chunks; i++) {
		chunk_seed = seed * 1000003 + i;
		for (k = 0; k < 2; k++) {
			status[k] = run_chunk(&records[k], chunk_seed);
			h[k] = hash_record(&records[k], status[k]);
		}
		if (h[0] == h[1] && status[0] >= 0) {
			printf("chunk %d same %08x\n", i, h[0]);
			same++;
		} else {
			printf("chunk %d differs\n", i);
		}
		for (k = 0; chunks == 1 && k < (int)records[0].done; k++)
			printf("# %s %llu: %d %d\n", records[0].call[k].scv ? "scv" : "sc",
			       (unsigned long long)records[0].call[k].nr,
			       records[0].call[k].error, records[1].call[k].error);
		fflush(stdout);
	}
	printf("# %d of %d chunks the same both times\n", same, chunks);
	/* a kernel that agrees with itself less than half of the time is no measure */
	return same * 2 < chunks;
}
