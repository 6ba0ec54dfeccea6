/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An IPI by XIVE: senders store a message and trigger, the receiver ends the interrupt
 * (EOI) and takes the messages. Is each message taken?
 *
 * The interrupt has two bits, P (there is an entry in the queue, or its handler is at work)
 * and Q (triggered again meanwhile). Each step below is atomic, as what it touches is one
 * word in memory or one access to the interrupt controller. A barrier is what keeps two
 * steps in their order: a variant without it may take them the other way round.
 *
 * Variants that are right:
 *	STORE_EOI	by StoreEOI: Q makes the hardware trigger again, and nothing is
 *			known of the order to the look at the messages
 *	EOI_LAST	the way of a device's interrupt: EOI after the look at the messages,
 *			and one that finds Q triggers again
 * and that are wrong:
 *	NO_SENDER_SYNC	no barrier between message and trigger (xive_cause_ipi())
 *	NO_DEMUX_SYNC	no barrier between EOI and the look at the messages (smp_ipi_demux())
 *	FORGET_Q	EOI_LAST, but Q is forgotten
 *	NO_EOI		now and then there is none
 */
#define SENDERS	2
#define EACH	2	/* messages of a sender */

bit P, Q;
byte queue;		/* entries that were not taken */
byte message;		/* senders whose message is in the word, a bit each */
byte sent[SENDERS], taken[SENDERS];

inline trigger() {
	d_step {
		if
		:: P -> Q = 1
		:: else -> P = 1; queue++
		fi
	}
	/* One entry, never more: there is no other limit to how many are in a queue. */
	assert(queue <= 1)
}

inline eoi() {
	d_step {
#if defined(STORE_EOI) || defined(EOI_LAST)
		if
		:: Q -> Q = 0; queue++	/* and P stays */
		:: else -> P = 0
		fi
#else
		P = 0; Q = 0
#endif
	}
	assert(queue <= 1)
}

/* The exchange with 0, and the handlers: they see what was sent before the message. */
inline take() {
	d_step {
		if
		:: message & 1 -> taken[0] = sent[0]
		:: else
		fi;
		if
		:: message & 2 -> taken[1] = sent[1]
		:: else
		fi;
		message = 0
	}
}

proctype sender(byte me) {
	byte n;

	do
	:: n < EACH ->
		n++;
		sent[me]++;
#ifdef NO_SENDER_SYNC
		if
		:: message = message | (1 << me); trigger()
		:: trigger(); message = message | (1 << me)
		fi
#else
		message = message | (1 << me);
		trigger()
#endif
	:: else -> break
	od
}

proctype receiver() {
end:	do
	:: atomic { queue > 0 -> queue-- };	/* acknowledged, no other one arrives */
again:
#if defined(EOI_LAST) || defined(FORGET_Q)
		take();
		eoi();
#elif defined(NO_DEMUX_SYNC) || defined(STORE_EOI)
		if
		:: eoi(); take()
		:: take(); eoi()
		fi;
#elif defined(NO_EOI)
		if
		:: eoi()
		:: skip
		fi;
		take();
#else
		eoi();
		take();
#endif
		/* The last look at the queue, xive_do_queue_eoi() */
		if
		:: atomic { queue > 0 -> queue-- }; goto again
		:: queue == 0
		fi
	od
}

init {
	atomic {
		run sender(0);
		run sender(1);
		run receiver()
	}
	/* Nobody has anything to do any more. */
	timeout;
	assert(message == 0 && taken[0] == sent[0] && taken[1] == sent[1])
}
