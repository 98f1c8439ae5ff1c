package dev.isola.store;

import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The points in the ledger and the engine at which a crash leaves an operation incomplete. The
 * system property {@code -Disola.failpoint=create.written:3} arms one of them at startup: the third
 * time the process reaches it, the process exits at once, as after {@code kill -9}.
 *
 * <p>All failpoints are declared in this module, below their users, so that there is one list and
 * the crash harness can verify that it reached each of them. A failpoint cannot be armed later; an
 * unarmed one costs a comparison with a constant. In a process that was started with {@code
 * -Disola.failpoint=observed}, a test does something else at failpoints, such as filling the disk.
 */
public enum Failpoint {
  CREATE_SELECTED,
  CREATE_ADMITTED,
  CREATE_WRITTEN,
  CREATE_MAKING,
  CREATE_MOVED_ON,
  CREATE_MADE,
  CREATE_STARTING,
  CREATE_STARTED,
  CREATE_RUNNING,
  CREATE_DELIVERED,
  CREATE_REPEATED,
  CREATE_FAILED,
  CREATE_FAILURE_WRITTEN,
  CREATE_HANDED_OUT,
  FALLBACK_NEXT,
  END_BEGUN,
  END_WRITTEN,
  END_DESTROYED,
  END_DROPPED,
  END_FINISHED,
  EXPIRY_ACTIVITY_WRITTEN,
  EXPIRY_FOUND,
  EXPIRY_CLAIMED,
  EXPIRY_ENDED,
  ATTACH_BEGUN,
  ATTACH_DONE,
  RENEW_WRITTEN,
  RENEW_APPLIED,
  PAUSE_DONE,
  PAUSE_WRITTEN,
  RESUME_DONE,
  RESUME_WRITTEN,
  POOL_CLAIMING,
  POOL_CLAIMED,
  POOL_MAKING,
  POOL_MADE,
  POOL_UNWANTED,
  RECONCILE_READ,
  RECONCILE_SEEN,
  RECONCILE_PLANNED,
  RECONCILE_CORRECTED,
  RECONCILE_LOST,
  RECONCILE_FINISHING,
  RECONCILE_REMOVING,
  RECONCILE_REMOVED,
  VOLUME_WRITTEN,
  VOLUME_CREATED,
  VOLUME_REMOVING,
  VOLUME_DESTROYED,
  TEMPLATE_BUILD_WRITTEN,
  TEMPLATE_BUILD_RUNNING,
  TEMPLATE_IMAGE_MADE,
  TEMPLATE_BUILD_FINISHED,
  TEMPLATE_REMOVING,
  RECORD_KEY_BOUND,
  RECORD_INSERTED,
  RECORD_UPDATED,
  EVENT_SIGNALLED,
  LEDGER_BEGUN,
  LEDGER_BEFORE_COMMIT,
  LEDGER_AFTER_COMMIT;

  /** Exit status of a process that stopped at a failpoint. */
  public static final int STATUS = 86;

  private static final String OBSERVED = "observed";

  private static final @Nullable Failpoint ARMED;
  private static final AtomicInteger LEFT;
  private static final boolean IS_OBSERVED;
  private static volatile Consumer<Failpoint> observer = _ -> {};

  static {
    String[] requested = System.getProperty("isola.failpoint", "").split(":", -1);
    IS_OBSERVED = requested[0].equals(OBSERVED);
    ARMED = requested[0].isEmpty() || IS_OBSERVED ? null : named(requested[0]);
    LEFT = new AtomicInteger(requested.length > 1 ? Integer.parseInt(requested[1]) : 1);
  }

  private static Failpoint named(String text) {
    for (Failpoint point : values()) {
      if (point.toString().equals(text)) {
        return point;
      }
    }
    throw new IllegalArgumentException("unknown failpoint " + text);
  }

  /** Calls {@code action} at every failpoint of a process that was started for it. */
  public static void observe(Consumer<Failpoint> action) {
    observer = action;
  }

  /**
   * Marks that the process has reached this failpoint. Does not return if the failpoint is armed
   * and its count is reached.
   */
  public void reach() {
    if (this == ARMED && LEFT.decrementAndGet() == 0) {
      Runtime.getRuntime().halt(STATUS);
    }
    if (IS_OBSERVED) {
      observer.accept(this);
    }
  }

  /** Returns the name used in the system property, such as {@code create.written}. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replaceFirst("_", ".").replace('_', '-');
  }
}
