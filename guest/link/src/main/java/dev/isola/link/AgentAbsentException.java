package dev.isola.link;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Says that nobody listens at the other end: right after the start the agent is not up yet, later
 * it is gone for good.
 */
public final class AgentAbsentException extends IOException {
  private static final long serialVersionUID = 1L;

  private final boolean forGood;

  public AgentAbsentException(String message, @Nullable Throwable cause) {
    this(message, cause, false);
  }

  private AgentAbsentException(String message, @Nullable Throwable cause, boolean forGood) {
    super(message, cause);
    this.forGood = forGood;
  }

  /** Says that it is known to have ended: nobody has to wait whether it comes. */
  public static AgentAbsentException permanent(String message, @Nullable Throwable cause) {
    return new AgentAbsentException(message, cause, true);
  }

  boolean isPermanent() {
    return forGood;
  }
}
