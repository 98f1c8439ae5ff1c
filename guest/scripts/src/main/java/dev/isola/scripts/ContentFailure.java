package dev.isola.scripts;

import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.io.IOException;

/** The error for content of the caller that cannot be read. */
public final class ContentFailure {
  private ContentFailure() {}

  public static SandboxException of(IOException e) {
    return e.getCause() instanceof SandboxException known
        ? known
        : Fault.of(
                ErrorCode.INVALID_REQUEST,
                "the content could not be read: " + e.getMessage(),
                "send it again")
            .exception(e);
  }
}
