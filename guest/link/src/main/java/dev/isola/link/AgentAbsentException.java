package dev.isola.link;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Says that nobody listens at the other end: right after the start the agent is not up yet, later
 * it is gone for good.
 */
public final class AgentAbsentException extends IOException {
  private static final long serialVersionUID = 1L;

  public AgentAbsentException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
