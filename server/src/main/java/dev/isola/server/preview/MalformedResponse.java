package dev.isola.server.preview;

import java.io.IOException;

/** What came from a sandbox is not an answer of HTTP/1.1. */
final class MalformedResponse extends IOException {
  private static final long serialVersionUID = 1;

  MalformedResponse(String why) {
    super(why);
  }
}
