package dev.isola.host.cgroup;

import dev.isola.codec.time.Deadline;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;

/**
 * A timeout with polling. The interval starts short, because most operations take less than a
 * millisecond.
 */
final class PollDeadline {
  private static final Duration FIRST = Duration.ofNanos(50_000);
  private static final Duration LONGEST = Duration.ofMillis(10);

  private final Deadline deadline;
  private Duration pause = FIRST;

  PollDeadline(Duration timeout) {
    deadline = Deadline.in(timeout);
  }

  /** Waits for the next poll; returns false when the time is up. */
  boolean pause() throws IOException {
    boolean paused = deadline.pause(pause);
    if (Thread.currentThread().isInterrupted()) {
      throw new InterruptedIOException("interrupted while waiting for a control group");
    }
    Duration longer = pause.multipliedBy(2);
    pause = longer.compareTo(LONGEST) < 0 ? longer : LONGEST;
    return paused;
  }
}
