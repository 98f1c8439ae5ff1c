package dev.isola.link;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when the agent neither listens nor dials: right after the start it is not up yet, later it
 * has ended.
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

  /**
   * Returns an exception for an agent that is known to have ended, so that retrying is pointless.
   */
  public static AgentAbsentException permanent(String message, @Nullable Throwable cause) {
    return new AgentAbsentException(message, cause, true);
  }

  boolean isPermanent() {
    return forGood;
  }
}
