package dev.isola.codec.http;

import java.io.IOException;

/** A message that is not HTTP/1.1. Its text never contains bytes of the message. */
public final class MalformedHttpException extends IOException {
  private static final long serialVersionUID = 1L;

  public MalformedHttpException(String problem) {
    super(problem);
  }
}
