package dev.isola.codec.http;

import java.io.IOException;

/** A message that is not HTTP/1.1. Its text never contains bytes of the message. */
public final class MalformedHttpException extends IOException {
  private static final long serialVersionUID = 1L;

  private final String problem;

  public MalformedHttpException(String problem) {
    super(problem);
    this.problem = problem;
  }

  public String problem() {
    return problem;
  }
}
