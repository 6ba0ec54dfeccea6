// SPDX-License-Identifier: GPL-2.0-only
/*
 * What audit records of system calls through sc and scv: one record a call, with
 * the arguments as the program passed them, and its result with the right sign.
 */

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "../../kselftest_harness.h"
#include "entry.h"

static int sock;
static u32 sequence;

/* Sends one request to the kernel; 0 or -errno from its answer */
static int audit_request(int type, const void *data, size_t size)
{
	struct {
		struct nlmsghdr hdr;
		char data[2048];
	} msg = { 0 };
	struct nlmsgerr *err = (struct nlmsgerr *)msg.data;
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

	msg.hdr.nlmsg_len = NLMSG_LENGTH(size);
	msg.hdr.nlmsg_type = type;
	msg.hdr.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	msg.hdr.nlmsg_seq = ++sequence;
	memcpy(msg.data, data, size);
	if (sendto(sock, &msg, msg.hdr.nlmsg_len, 0, (struct sockaddr *)&kernel,
		   sizeof(kernel)) < 0)
		return -errno;
	/* records may come in between */
	do {
		if (recv(sock, &msg, sizeof(msg), 0) < 0)
			return -errno;
	} while (msg.hdr.nlmsg_type != NLMSG_ERROR || msg.hdr.nlmsg_seq != sequence);
	return err->error;
}

/* All calls of the children of this process */
static struct audit_rule_data rule;

static int audit_start(void)
{
	struct audit_status status = {
		.mask = AUDIT_STATUS_ENABLED | AUDIT_STATUS_PID,
		.enabled = 1,
		.pid = getpid(),
	};
	int err;

	sock = socket(AF_NETLINK, SOCK_RAW, NETLINK_AUDIT);
	if (sock < 0)
		return -errno;
	err = audit_request(AUDIT_SET, &status, sizeof(status));
	if (err)
		return err;
	rule.flags = AUDIT_FILTER_EXIT;
	rule.action = AUDIT_ALWAYS;
	rule.field_count = 1;
	rule.fields[0] = AUDIT_PPID;
	rule.fieldflags[0] = AUDIT_EQUAL;
	rule.values[0] = getpid();
	memset(rule.mask, 0xff, sizeof(rule.mask));
	return audit_request(AUDIT_ADD_RULE, &rule, sizeof(rule));
}

static void audit_stop(void)
{
	struct audit_status status = {
		.mask = AUDIT_STATUS_ENABLED | AUDIT_STATUS_PID,
	};

	audit_request(AUDIT_DEL_RULE, &rule, sizeof(rule));
	audit_request(AUDIT_SET, &status, sizeof(status));
	close(sock);
}

struct record {
	unsigned int arch;
	int nr;
	char success[8];
	long long exit;
	unsigned long long arg[4];
};

#define RECORD_FORMAT	"arch=%x syscall=%d success=%7s exit=%lld a0=%llx a1=%llx a2=%llx a3=%llx"

/* The next record of a call; false if none comes */
static bool next_record(struct record *r)
{
	struct {
		struct nlmsghdr hdr;
		char data[8192];
	} msg;
	struct timeval timeout = { .tv_sec = 2 };
	ssize_t size;
	char *text;

	setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	for (;;) {
		size = recv(sock, &msg, sizeof(msg) - 1, 0);
		if (size <= 0)
			return false;
		if (msg.hdr.nlmsg_type != AUDIT_SYSCALL)
			continue;
		((char *)&msg)[size] = 0;
		text = strstr(msg.data, "arch=");
		memset(r, 0, sizeof(*r));
		if (!text || sscanf(text, RECORD_FORMAT, &r->arch, &r->nr, r->success,
				    &r->exit, &r->arg[0], &r->arg[1], &r->arg[2],
				    &r->arg[3]) != 8) {
			printf("# not understood: %s\n", msg.data);
			continue;
		}
		return true;
	}
}

/* A child makes the call between two others that mark where it is. */
static pid_t make_call(enum entry_way way, const struct call *call, void (*prepare)(void))
{
	struct call copy = *call;
	pid_t pid = fork();

	if (pid)
		return pid;
	if (prepare)
		prepare();
	call3(way, SYS_getuid, 0, 0, 0);
	call_make(way, &copy);
	call3(way, SYS_getgid, 0, 0, 0);
	_exit(0);
}

/* Records between the two marks: their number, and the first of them in @r */
static int records_of_call(enum entry_way way, const struct call *call,
			   void (*prepare)(void), struct record *r)
{
	pid_t pid = make_call(way, call, prepare);
	struct record next;
	int count = -1;

	waitpid(pid, NULL, 0);
	while (next_record(&next)) {
		if (next.nr == SYS_getgid)
			return count;
		if (count >= 0) {
			if (!count++)
				*r = next;
		} else if (next.nr == SYS_getuid) {
			count = 0;
		}
	}
	return -1;
}

FIXTURE(audit) {
	enum entry_way way;
	bool started;
};

FIXTURE_VARIANT(audit) {
	enum entry_way way;
};

FIXTURE_VARIANT_ADD(audit, sc) { .way = WAY_SC };
FIXTURE_VARIANT_ADD(audit, scv) { .way = WAY_SCV };

FIXTURE_SETUP(audit)
{
	int err;

	self->way = variant->way;
	self->started = false;
	if (self->way == WAY_SCV && !have_scv())
		SKIP(return, "no scv here");
	err = audit_start();
	if (err)
		SKIP(return, "cannot audit here: %s", strerror(-err));
	self->started = true;
}

FIXTURE_TEARDOWN(audit)
{
	if (self->started)
		audit_stop();
}

TEST_F(audit, a_call_is_one_record_with_its_arguments_and_result)
{
	static const struct call call = {
		.r0 = SYS_getppid, .arg = { 0x11, 0x12, 0x13, -1UL },
	};
	struct record r;

	ASSERT_EQ(1, records_of_call(self->way, &call, NULL, &r));
	EXPECT_EQ(AUDIT_ARCH_HERE, r.arch);
	EXPECT_EQ(SYS_getppid, r.nr);
	EXPECT_STREQ("yes", r.success);
	EXPECT_EQ(getpid(), r.exit);
	EXPECT_EQ(0x11, r.arg[0]);
	EXPECT_EQ(0x12, r.arg[1]);
	EXPECT_EQ(0x13, r.arg[2]);
	EXPECT_EQ(-1UL, r.arg[3]);
}

TEST_F(audit, a_failing_call_is_recorded_with_a_negative_errno)
{
	static const struct call call = { .r0 = SYS_close, .arg = { -1UL, 2, 3, 4 } };
	struct record r;

	ASSERT_EQ(1, records_of_call(self->way, &call, NULL, &r));
	EXPECT_EQ(SYS_close, r.nr);
	EXPECT_STREQ("no", r.success);
	EXPECT_EQ(-EBADF, r.exit);
	EXPECT_EQ(-1UL, r.arg[0]);
	EXPECT_EQ(4, r.arg[3]);
}

TEST_F(audit, a_number_that_is_none_is_not_recorded)
{
	static const struct call call = { .r0 = 9999, .arg = { 1, 2, 3, 4 } };
	struct record r;

	EXPECT_EQ(0, records_of_call(self->way, &call, NULL, &r));
}

static void filter_getppid(unsigned int action)
{
	struct sock_filter insns[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = ARRAY_SIZE(insns), .filter = insns };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

static void allow_getppid(void)
{
	filter_getppid(SECCOMP_RET_ALLOW);
}

static void refuse_getppid(void)
{
	filter_getppid(SECCOMP_RET_ERRNO | 7);
}

/* seccomp leaves an error in r3 while it runs, and audit must not see that */
TEST_F(audit, a_call_that_seccomp_allows_is_recorded_with_its_arguments)
{
	static const struct call call = { .r0 = SYS_getppid, .arg = { 0x11, 2, 3, 4 } };
	struct record r;

	ASSERT_EQ(1, records_of_call(self->way, &call, allow_getppid, &r));
	EXPECT_EQ(0x11, r.arg[0]);
	EXPECT_STREQ("yes", r.success);
	EXPECT_EQ(getpid(), r.exit);
}

TEST_F(audit, a_call_that_seccomp_refuses_is_not_recorded)
{
	static const struct call call = { .r0 = SYS_getppid, .arg = { 0x11, 2, 3, 4 } };
	struct record r;

	EXPECT_EQ(0, records_of_call(self->way, &call, refuse_getppid, &r));
}

TEST_HARNESS_MAIN
